// The keys that work on every page, and a search button for devices without a keyboard.

import { Button, Kbd, Modal, Table, Text } from '@mantine/core';
import { Icon } from '../component/icon.tsx';

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
  [['/', 'Ctrl K', '⌘ K'], 'Search pull requests, tests, queues and actions'],
  [['↑', '↓', 'Enter'], 'Choose a result'],
  [['Esc'], 'Close the dialog'],
  [['?'], 'Show keyboard shortcuts'],
];

export const KeyHelp = ({ onClose }: { readonly onClose: () => void }) => (
  <Modal opened onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
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
