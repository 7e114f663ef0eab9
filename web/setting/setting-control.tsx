// One setting of a form: its name, its description, its value and the effect of that value.

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
import { humanizeCode } from '../format.ts';
import { type Field, isSame, formatSettingValue } from './setting.ts';
import { Pill } from '../component/pill.tsx';

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
            <Text className="break">{formatSettingValue(field, value)}</Text>
          </>
        )}
        {effect !== null && (
          <Text size="sm" mt={4} className="break">
            {effect}
          </Text>
        )}
      </div>
      <Group gap="xs" className="setting-marks">
        {!isSame(value, saved) && <Pill icon="warning" label="Changed" tone="warn" />}
        <Text size="sm" c="dimmed" className="break">
          {isSame(value, field.initial) ? 'Default' : `Default: ${formatSettingValue(field, field.initial)}`}
        </Text>
      </Group>
    </div>
  );
};

/** The input is narrow; the sentence above it is not. */
const inputWidth = { wrapper: { maxWidth: 360 } };

function Control({ field, value, problem, onChange }: ControlProps): ReactNode {
  const { input, label, description } = field;
  const common = { label, description, error: problem };
  switch (input.kind) {
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
          min={input.min}
          max={input.max}
          // A value out of bounds is reported, not silently changed.
          clampBehavior="none"
          allowDecimal={!input.isWhole}
          styles={inputWidth}
        />
      );
    case 'choice':
      return (
        <NativeSelect
          {...common}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
          data={input.choices.map((choice) => ({ value: choice, label: humanizeCode(choice) }))}
          styles={inputWidth}
        />
      );
    case 'choices':
      return (
        <Checkbox.Group {...common} value={value as string[]} onChange={onChange}>
          <Group gap="md" mt={6}>
            {input.choices.map((choice) => (
              <Checkbox key={choice} value={choice} label={humanizeCode(choice)} />
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
      return <Lines {...{ field, value, problem, onChange }} isNullable={input.isNullable} />;
  }
}

/** The last line may be empty while it is being written. */
const splitLines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

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
          <Radio value="null" label={field.nullText.charAt(0).toUpperCase() + field.nullText.slice(1)} />
          <Radio value="list" label="A custom list" />
        </Stack>
      </Radio.Group>
    )}
    {value !== null && (
      <Textarea
        label={isNullable ? `${field.label}: custom list` : field.label}
        description={`${isNullable ? '' : field.description} One per line. Leave empty for none.`.trim()}
        error={problem}
        autosize
        minRows={2}
        maxRows={12}
        value={(value as readonly string[]).join('\n')}
        onChange={(event) => onChange(splitLines(event.currentTarget.value))}
        styles={inputWidth}
      />
    )}
  </Stack>
);
