import { Text } from '@mantine/core';

export type Fact = readonly [name: string, value: string];

/** Names and what they stand for, side by side as there is room. */
export const Facts = ({
  facts,
  className = '',
}: {
  readonly facts: readonly Fact[];
  readonly className?: string;
}) => (
  <dl className={`figures ${className}`.trim()}>
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
