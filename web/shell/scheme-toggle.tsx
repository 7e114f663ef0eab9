import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../component/icon.tsx';

export function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  const other = shown === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Use ${other} theme`}
      onClick={() => setColorScheme(other)}
    >
      <Icon name={shown === 'dark' ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}
