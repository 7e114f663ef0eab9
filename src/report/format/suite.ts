// The open suites, and what their cases take from them: the path of their names, the file, Playwright's
// project.

import { boundedName } from './name.ts';

type Suite = {
  readonly name: string;
  readonly file: string;
  readonly hostname: string;
  /** How many tests it declares; NaN: it declares none. */
  readonly tests: number;
};

const script = /\.[cm]?[jt]sx?$/;

export class SuiteStack {
  /** The names of all open suites, outermost first. */
  parent = '';
  file = '';
  /** Playwright's project; empty: another runner's report. */
  variant = '';
  isPlaywright = false;
  declaredTests = 0;
  readonly #open: Suite[] = [];
  /** The path of each open suite. */
  readonly #paths: string[] = [];
  readonly #nameLengthMax: number;
  #last = { above: '', name: '', path: '' };
  #mayBePlaywright = false;
  /** Cypress names the file on a separate suite, before the suites with the tests. */
  #fileBefore = '';
  /** Cases so far, in all suites. */
  #cases = 0;
  #casesAtBegin = 0;

  constructor(nameLengthMax: number) {
    this.#nameLengthMax = nameLengthMax;
  }

  /** Playwright gives its root an id, others do not. */
  beginRoot(hasId: boolean): void {
    this.#mayBePlaywright = hasId;
    this.#fileBefore = '';
  }

  begin(suite: Suite): void {
    this.#open.push(suite);
    this.#paths.push(this.#pathTo(suite.name));
    this.#casesAtBegin = this.#cases;
    if (suite.tests > 0) this.declaredTests += suite.tests;
    this.#updateCurrent();
  }

  end(): void {
    const suite = this.#open.pop();
    this.#paths.pop();
    if (suite?.name === 'Root Suite' && suite.file !== '' && this.#cases === this.#casesAtBegin)
      this.#fileBefore = suite.file;
    this.#updateCurrent();
  }

  countCase(): void {
    this.#cases++;
  }

  #pathTo(name: string): string {
    const above = this.#paths.at(-1) ?? '';
    if (above === '' || name === '') return above || name;
    // Suites of one name are often consecutive: they share the text.
    const last = this.#last;
    if (last.above === above && last.name === name) return last.path;
    const path = boundedName(`${above} › ${name}`, this.#nameLengthMax);
    this.#last = { above, name, path };
    return path;
  }

  #updateCurrent(): void {
    const open = this.#open;
    this.parent = this.#paths.at(-1) ?? '';
    this.file = open.findLast(({ file }) => file !== '')?.file ?? this.#fileBefore;
    const outermost = open[0];
    this.isPlaywright =
      this.#mayBePlaywright &&
      outermost !== undefined &&
      outermost.hostname !== '' &&
      script.test(outermost.name);
    this.variant = this.isPlaywright ? outermost!.hostname : '';
  }
}
