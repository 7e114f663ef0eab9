// A setting as one value: what it takes, its default, and what people read about it. The schema of the API, the
// form of the dashboard and the reference are all made from it.

type Takes =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly isWhole: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  /** One line of text. */
  | { readonly kind: 'text'; readonly lengthMax: number }
  /** A list of lines. `arePaths`: each is a path inside the repository. */
  | {
      readonly kind: 'texts';
      readonly lengthMax: number;
      readonly max: number;
      readonly arePaths: boolean;
      readonly isNullable: boolean;
    };

type SettingText = {
  readonly label: string;
  /** One sentence on what it does. */
  readonly description: string;
  /** The heading under which a form shows it, where a form has headings. */
  readonly group?: string;
  /** What each choice does, in a sentence. */
  readonly choiceTexts?: Readonly<Record<string, string>>;
  /** What null means, for a list that may be null. */
  readonly nullText?: string;
};

export type Setting<Value = unknown> = SettingText & {
  readonly takes: Takes;
  /** The value that applies where none was chosen. */
  readonly initial: Value;
};

/** Settings by their names. */
export type SettingTable = Readonly<Record<string, Setting>>;

export type SettingValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

/** The default of every setting of a table. */
export const initialValues = <Table extends SettingTable>(table: Table): SettingValues<Table> =>
  Object.fromEntries(
    Object.entries(table).map(([name, { initial }]) => [name, initial]),
  ) as SettingValues<Table>;

type SettingBasics<Value> = SettingText & { readonly initial: Value };
type NumberBounds = { readonly min: number; readonly max: number };

export const onOff = (given: SettingBasics<boolean>): Setting<boolean> => ({
  ...given,
  takes: { kind: 'switch' },
});

const numeric =
  (isWhole: boolean) =>
  ({ min, max, ...given }: SettingBasics<number> & NumberBounds): Setting<number> => ({
    ...given,
    takes: { kind: 'number', min, max, isWhole },
  });

export const whole = numeric(true);
export const fraction = numeric(false);

export const choice = <const Choice extends string>({
  choices,
  ...given
}: SettingBasics<NoInfer<Choice>> & { readonly choices: readonly Choice[] }): Setting<Choice> => ({
  ...given,
  takes: { kind: 'choice', choices },
});

export const choices = <const Choice extends string>({
  choices: all,
  ...given
}: SettingBasics<readonly NoInfer<Choice>[]> & { readonly choices: readonly Choice[] }): Setting<
  readonly Choice[]
> => ({ ...given, takes: { kind: 'choices', choices: all } });

export const text = ({
  lengthMax,
  ...given
}: SettingBasics<string> & { readonly lengthMax: number }): Setting<string> => ({
  ...given,
  takes: { kind: 'text', lengthMax },
});

type ListLimits = { readonly lengthMax: number; readonly max: number; readonly arePaths?: boolean };

export const texts = ({
  lengthMax,
  max,
  arePaths = false,
  ...given
}: SettingBasics<readonly string[]> & ListLimits): Setting<readonly string[]> => ({
  ...given,
  takes: { kind: 'texts', lengthMax, max, arePaths, isNullable: false },
});

export const textsOrNull = ({
  lengthMax,
  max,
  ...given
}: SettingBasics<readonly string[] | null> & ListLimits): Setting<readonly string[] | null> => ({
  ...given,
  takes: { kind: 'texts', lengthMax, max, arePaths: false, isNullable: true },
});
