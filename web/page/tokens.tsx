import { Button, Group, Stack, Switch, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiToken } from '#contract/token.ts';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { Icon } from '../component/icon.tsx';
import { Pill } from '../component/state.tsx';
import { Ago, Instant } from '../component/time.tsx';
import {
  CreateTokenDialog,
  RevokeTokenDialog,
  type MadeToken,
  TokenValue,
} from '../component/token-dialog.tsx';
import { useMay } from '../query.ts';

const route = getRouteApi('/tokens');
const pageSize = 50;

const looks = {
  active: { icon: 'check', word: 'Active', tone: 'good' },
  expired: { icon: 'clock', word: 'Expired', tone: 'calm' },
  revoked: { icon: 'cross', word: 'Revoked', tone: 'bad' },
} as const;

export function TokensPage() {
  const isAdmin = useMay('admin');
  return (
    <Stack>
      <title>Tokens · Signalbox</title>
      {isAdmin ? (
        <Tokens />
      ) : (
        <>
          <Title order={1} size="h2">
            API tokens
          </Title>
          <Empty icon="shield" title="Tokens are for admins">
            Ask an admin of your organization for a token, or for the role.
          </Empty>
        </>
      )}
    </Stack>
  );
}

function Tokens() {
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<MadeToken | null>(null);
  return (
    <>
      <Group justify="space-between">
        <Title order={1} size="h2">
          API tokens
        </Title>
        <Button onClick={() => setIsMaking(true)}>Create token</Button>
      </Group>
      <Text c="dimmed" maw={720}>
        A token lets CI, scripts and people call the API, and sign in here. It is shown once, when it is made.
        Timelines and the audit log name it, so give each its own.
      </Text>
      <TokenList />
      {isMaking && <CreateTokenDialog onMade={setMade} onClose={() => setIsMaking(false)} />}
      {made !== null && <TokenValue made={made} onClose={() => setMade(null)} />}
    </>
  );
}

function TokenList() {
  const { ended = false } = route.useSearch();
  const navigate = route.useNavigate();
  const [leaving, setLeaving] = useState<ApiToken | null>(null);
  const tokens = useInfiniteQuery({
    queryKey: ['tokens', ended],
    queryFn: ({ pageParam }) =>
      call('listTokens', { take: pageSize, includeEnded: ended, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  return (
    <>
      <Switch
        label="Also revoked and expired ones"
        checked={ended}
        onChange={(event) => void navigate({ search: event.currentTarget.checked ? { ended: true } : {} })}
      />
      <Answer query={tokens} loading="Reading the tokens">
        {({ pages }) => {
          const list = pages.flatMap((page) => page.tokens);
          if (list.length === 0)
            return (
              <Empty icon="shield" title="No token is active">
                Create one for CI or for a person who has no account at your identity provider.
              </Empty>
            );
          return (
            <ul className="plain">
              {list.map((token) => (
                <TokenRow key={token.id} token={token} onRevoke={() => setLeaving(token)} />
              ))}
            </ul>
          );
        }}
      </Answer>
      {tokens.hasNextPage && (
        <Group>
          <Button
            variant="default"
            loading={tokens.isFetchingNextPage}
            onClick={() => void tokens.fetchNextPage()}
          >
            Show more
          </Button>
        </Group>
      )}
      {leaving !== null && <RevokeTokenDialog token={leaving} onClose={() => setLeaving(null)} />}
    </>
  );
}

type TokenRowProps = { readonly token: ApiToken; readonly onRevoke: () => void };

const TokenRow = ({ token, onRevoke }: TokenRowProps) => (
  <li className="row">
    <div className="shrink">
      <Text fw={600} className="break">
        {token.name}
      </Text>
      <Text size="sm">
        May {token.scopes.join(', ')} {token.isCaller && '· you are signed in with it'}
      </Text>
      <Text size="sm" c="dimmed" className="break">
        <code>{token.id}</code> · made <Ago at={token.createdAt} />
        {token.revokedAt !== null ? (
          <>
            {' '}
            · revoked <Ago at={token.revokedAt} />
          </>
        ) : token.expiresAt === null ? (
          ' · does not expire'
        ) : (
          <>
            {' '}
            · {token.state === 'expired' ? 'expired' : 'expires'} <Instant at={token.expiresAt} />
          </>
        )}
      </Text>
    </div>
    <div className="entry-state">
      <Pill {...looks[token.state]} />
      {token.state === 'active' && (
        <Button
          variant="default"
          size="xs"
          leftSection={<Icon name="cross" />}
          aria-label={`Revoke ${token.name}`}
          onClick={onRevoke}
        >
          Revoke
        </Button>
      )}
    </div>
  </li>
);
