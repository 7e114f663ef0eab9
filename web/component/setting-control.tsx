// One setting of a form: what it is, what it does, what it is set to and what that means.

import {
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  Radio,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { wordsOf } from '../format.ts';
import { type Field, isSame, sayValue } from '../setting.ts';
import { Pill } from './state.tsx';

type ControlProps = {
  readonly field: Field;
  readonly value: unknown;
  readonly problem: string | null;
  readonly onChange: (value: unknown) => void;
};

type SettingProps = ControlProps & {
  readonly saved: unknown;
  readonly effect: string | null;
  readonly isEditable: boolean;
};

export const Setting = ({ saved, effect, isEditable, ...control }: SettingProps) => {
  const { field, value } = control;
  return (
    <div className="setting" data-setting={field.path}>
      <div className="shrink">
        {isEditable ? (
          <Control {...control} />
        ) : (
          <>
            <Text fw={600}>{field.label}</Text>
            <Text size="sm" c="dimmed">
              {field.description}
            </Text>
            <Text className="break">{sayValue(field, value)}</Text>
          </>
        )}
        {effect !== null && (
          <Text size="sm" mt={4} className="break">
            {effect}
          </Text>
        )}
      </div>
      <Group gap="xs" className="setting-marks">
        {!isSame(value, saved) && <Pill icon="warning" word="Changed" tone="warn" />}
        <Text size="sm" c="dimmed" className="break">
          {isSame(value, field.initial) ? 'Default' : `Default: ${sayValue(field, field.initial)}`}
        </Text>
      </Group>
    </div>
  );
};

/** What is entered is narrow; the sentence above it is not. */
const inputWidth = { wrapper: { maxWidth: 360 } };

function Control({ field, value, problem, onChange }: ControlProps): ReactNode {
  const { takes, label, description } = field;
  const common = { label, description, error: problem };
  switch (takes.kind) {
    case 'switch':
      return (
        <Switch
          {...common}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'number':
      return (
        <NumberInput
          {...common}
          value={value as number | string}
          onChange={onChange}
          min={takes.min}
          max={takes.max}
          // What is out of bounds is said, not silently made something else.
          clampBehavior="none"
          allowDecimal={!takes.isWhole}
          styles={inputWidth}
        />
      );
    case 'choice':
      return (
        <NativeSelect
          {...common}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
          data={takes.choices.map((choice) => ({ value: choice, label: wordsOf(choice) }))}
          styles={inputWidth}
        />
      );
    case 'choices':
      return (
        <Checkbox.Group {...common} value={value as string[]} onChange={onChange}>
          <Group gap="md" mt={6}>
            {takes.choices.map((choice) => (
              <Checkbox key={choice} value={choice} label={wordsOf(choice)} />
            ))}
          </Group>
        </Checkbox.Group>
      );
    case 'text':
      return (
        <TextInput
          {...common}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
          styles={inputWidth}
        />
      );
    case 'lines':
      return <Lines {...{ field, value, problem, onChange }} isNullable={takes.isNullable} />;
  }
}

/** The last line may be empty while it is being written. */
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

type LinesProps = ControlProps & { readonly isNullable: boolean };

const Lines = ({ field, value, problem, onChange, isNullable }: LinesProps) => (
  <Stack gap="xs">
    {isNullable && (
      <Radio.Group
        label={field.label}
        description={field.description}
        value={value === null ? 'null' : 'list'}
        onChange={(chosen) => onChange(chosen === 'null' ? null : [])}
      >
        <Stack gap={6} mt={6}>
          <Radio value="null" label={`As ${field.nullWords}`.replace('As what', 'What')} />
          <Radio value="list" label="A list of its own" />
        </Stack>
      </Radio.Group>
    )}
    {value !== null && (
      <Textarea
        label={isNullable ? `${field.label}: the list` : field.label}
        description="One on each line; none: nothing."
        error={problem}
        autosize
        minRows={2}
        maxRows={12}
        value={(value as readonly string[]).join('\n')}
        onChange={(event) => onChange(linesOf(event.currentTarget.value))}
        styles={inputWidth}
      />
    )}
  </Stack>
);
