// Answers that are remembered, up to a number; the one not asked for the longest is forgotten first. Who asks while the
// answer is being worked out waits for the same one. A failure is not remembered.

export type Memory<T> = (key: string, workOut: () => Promise<T>) => Promise<T>;

export function createMemory<T>(sizeMax: number): Memory<T> {
  const answers = new Map<string, Promise<T>>();
  return (key, workOut) => {
    const known = answers.get(key);
    // Set again to be the youngest: a Map keeps the order of insertion.
    answers.delete(key);
    const answer = known ?? workOut();
    answers.set(key, answer);
    if (known === undefined) {
      answer.catch(() => {
        if (answers.get(key) === answer) answers.delete(key);
      });
      const [oldest] = answers.keys();
      if (answers.size > sizeMax && oldest !== undefined) answers.delete(oldest);
    }
    return answer;
  };
}
