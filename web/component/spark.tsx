import { barPath, sparkHeight, sparkTop, stepPath } from './spark.ts';

type SparkProps = {
  /** Bars for counts, steps for a quantity that may be unknown. */
  readonly kind: 'bars' | 'steps';
  /** Oldest first. */
  readonly values: readonly (number | null)[];
  /** A dashed line; null: none. */
  readonly reference: number | null;
  readonly label: string;
};

/** A small chart without axes, as wide as its place. */
export function Spark({ kind, values, reference, label }: SparkProps) {
  const top = sparkTop(values, reference);
  const y = reference === null ? null : sparkHeight(reference, top);
  return (
    <svg className="spark" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={label}>
      {kind === 'bars' ? (
        <path
          className="spark-bars"
          d={barPath(
            values.map((value) => value ?? 0),
            top,
          )}
        />
      ) : (
        <path className="spark-steps" d={stepPath(values, top)} />
      )}
      {y !== null && <path className="spark-reference" d={`M0 ${y}H100`} />}
    </svg>
  );
}
