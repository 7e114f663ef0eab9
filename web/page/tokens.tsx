import { Button, Group, Stack, Switch, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiToken } from '#contract/token.ts';
import { call } from '../api/api.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { Pill } from '../component/pill.tsx';
import { Ago, Instant } from '../component/time.tsx';
import {
  CreateTokenDialog,
  RevokeTokenDialog,
  type CreatedToken,
  TokenValue,
} from '../account/token-dialog.tsx';
import { TrustCiDialog } from '../account/trust-ci-dialog.tsx';
import { useMay } from '../api/query.ts';

const route = getRouteApi('/tokens');
const pageSize = 50;

const stateStyles = {
  active: { icon: 'check', label: 'Active', tone: 'good' },
  expired: { icon: 'clock', label: 'Expired', tone: 'calm' },
  revoked: { icon: 'cross', label: 'Revoked', tone: 'bad' },
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
          <Empty icon="shield" title="Tokens are for administrators">
            Ask an administrator of your organization for a token, or for the admin role.
          </Empty>
        </>
      )}
    </Stack>
  );
}

function Tokens() {
  const [isCreating, setIsCreating] = useState(false);
  const [isTrusting, setIsTrusting] = useState(false);
  const [created, setCreated] = useState<CreatedToken | null>(null);
  return (
    <>
      <Group justify="space-between">
        <Title order={1} size="h2">
          API tokens
        </Title>
        <Group gap="xs">
          <Button variant="default" onClick={() => setIsTrusting(true)}>
            Trust a CI system
          </Button>
          <Button onClick={() => setIsCreating(true)}>Create token</Button>
        </Group>
      </Group>
      <Text c="dimmed" maw={720}>
        CI, scripts and people use a token to call the API and to sign in here. A token is shown once, when
        you create it. CI jobs that prove who they are need none. Timelines and the audit log show its name,
        so create one for each user and program.
      </Text>
      <TokenList />
      {isCreating && <CreateTokenDialog onCreated={setCreated} onClose={() => setIsCreating(false)} />}
      {isTrusting && <TrustCiDialog onClose={() => setIsTrusting(false)} />}
      {created !== null && <TokenValue created={created} onClose={() => setCreated(null)} />}
    </>
  );
}

function TokenList() {
  const { ended = false } = route.useSearch();
  const navigate = route.useNavigate();
  const [revoking, setRevoking] = useState<ApiToken | null>(null);
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
        label="Show revoked and expired tokens"
        checked={ended}
        onChange={(event) => void navigate({ search: event.currentTarget.checked ? { ended: true } : {} })}
      />
      <QueryResult query={tokens} loading="Loading the tokens">
        {({ pages }) => {
          const list = pages.flatMap((page) => page.tokens);
          if (list.length === 0)
            return (
              <Empty icon="shield" title="There is no active token">
                Create one for CI, or for a person without an account at your identity provider.
              </Empty>
            );
          return (
            <ul className="plain">
              {list.map((token) => (
                <TokenRow key={token.id} token={token} onRevoke={() => setRevoking(token)} />
              ))}
            </ul>
          );
        }}
      </QueryResult>
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
      {revoking !== null && <RevokeTokenDialog token={revoking} onClose={() => setRevoking(null)} />}
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
        Scopes: {token.scopes.join(', ')} {token.isCaller && '· your current session uses this token'}
      </Text>
      {token.identity !== undefined && (
        <Text size="sm" className="break">
          For CI jobs of {token.repositories?.join(', ')} with an identity of {token.identity.issuer}
          {token.identity.branches !== null && `, on ${token.identity.branches.join(', ')}`}
        </Text>
      )}
      <Text size="sm" c="dimmed" className="break">
        <code>{token.id}</code> · created <Ago at={token.createdAt} />
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
      <Pill {...stateStyles[token.state]} />
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
