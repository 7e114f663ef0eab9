// The keys that work everywhere, and the button for whoever has none.

import { Button, Kbd, Modal, Table, Text } from '@mantine/core';
import { Icon } from './icon.tsx';

export const SearchButton = ({ onClick }: { readonly onClick: () => void }) => (
  <Button
    variant="default"
    px="sm"
    onClick={onClick}
    aria-label="Search"
    aria-keyshortcuts="/ Control+K Meta+K"
  >
    <Icon name="search" />
    <Text component="span" size="sm" visibleFrom="sm" mx={8}>
      Search
    </Text>
    <Kbd visibleFrom="sm">/</Kbd>
  </Button>
);

const keys: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['/', 'Ctrl K', '⌘ K'], 'Search pull requests, tests and queues, and find what can be done'],
  [['↑', '↓', 'Enter'], 'Choose from what was found'],
  [['Esc'], 'Close what is open'],
  [['?'], 'Show these keys'],
];

export const KeyHelp = ({ onClose }: { readonly onClose: () => void }) => (
  <Modal opened onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
    <Table>
      <Table.Tbody>
        {keys.map(([pressed, meaning]) => (
          <Table.Tr key={meaning}>
            <Table.Th scope="row">
              {pressed.map((key) => (
                <Kbd key={key} mr={4}>
                  {key}
                </Kbd>
              ))}
            </Table.Th>
            <Table.Td>{meaning}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Modal>
);
