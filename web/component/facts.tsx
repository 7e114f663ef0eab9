import { Text } from '@mantine/core';

export type NamedFact = readonly [name: string, value: string];

/** Names and their values, in as many columns as fit. */
export const Facts = ({
  facts,
  className = '',
}: {
  readonly facts: readonly NamedFact[];
  readonly className?: string;
}) => (
  <dl className={`metrics ${className}`.trim()}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <Text component="dt" size="xs" c="dimmed">
          {name}
        </Text>
        <Text component="dd" m={0} className="break">
          {value}
        </Text>
      </div>
    ))}
  </dl>
);
