import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { pathOf, type Repo } from '../name.ts';
import type { TestTab } from '../test-tab.ts';

type OwnersProps = { readonly owners: readonly string[]; readonly repo: Repo; readonly tab: TestTab };

/** Code owners, each leading to the list of what is theirs. */
export const Owners = ({ owners, repo, tab }: OwnersProps) =>
  owners.length > 0 && (
    <Text size="sm" c="dimmed" className="break">
      Owned by{' '}
      {owners.map((owner, index) => (
        <span key={owner}>
          {index > 0 && ', '}
          <Link to="/tests" search={{ repo: pathOf(repo), tab, owner }}>
            {owner}
          </Link>
        </span>
      ))}
    </Text>
  );
