import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { formatRepoPath, type Repo } from '../name.ts';
import type { TestTab } from './test-tab.ts';

type OwnersProps = { readonly owners: readonly string[]; readonly repo: Repo; readonly tab: TestTab };

/** Code owners, each with a link to the list of their tests. */
export const Owners = ({ owners, repo, tab }: OwnersProps) =>
  owners.length > 0 && (
    <Text size="sm" c="dimmed" className="break">
      Owned by{' '}
      {owners.map((owner, index) => (
        <span key={owner}>
          {index > 0 && ', '}
          <Link to="/tests" search={{ repo: formatRepoPath(repo), tab, owner }}>
            {owner}
          </Link>
        </span>
      ))}
    </Text>
  );
