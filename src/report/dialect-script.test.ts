// Runners of JavaScript, Python, Ruby and PHP.

import { describe, expect, it } from 'vitest';
import {
  type Expected,
  expectedShape,
  failed,
  failure,
  flaky,
  passed,
  readFixture,
  readReport,
  shapeOf,
  skipped,
} from '../../test/fixture/report/fixture.ts';

const cart = { parent: 'Cart', file: 'src/cart.test.ts' };
const login = { classname: 'login.spec.ts', parent: 'login.spec.ts' };
const shop = { parent: 'Shop', file: 'cypress/e2e/shop.cy.js' };
const math = { classname: 'src/math.test.ts', parent: 'src/math.test.ts' };
const api = { classname: 'tests.test_api', parent: 'pytest' };
const apiLogin = { classname: 'tests.test_api.TestLogin', parent: 'pytest' };
const user = { classname: 'spec.models.user_spec', parent: 'rspec', file: 'spec/models/user_spec.rb' };
const userTest = { classname: 'UserTest', parent: 'UserTest', file: 'test/models/user_test.rb' };
const money = { classname: 'Acme.MoneyTest', file: '/app/tests/MoneyTest.php' };
const moneySuite = '/app/phpunit.xml › unit › Acme\\MoneyTest';

const reports: Readonly<Record<string, Expected>> = {
  'jest-junit.xml': {
    format: 'junit',
    cases: [
      passed('Cart adds an item', { ...cart, classname: 'Cart adds an item', ms: 4 }),
      failed('Cart applies a discount', {
        ...cart,
        classname: 'Cart applies a discount',
        ms: 12,
        failures: [
          failure(
            '',
            '',
            'Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 90\nReceived: 100\n' +
              '    at Object.toBe (/ci/work/src/cart.test.ts:18:25)\n' +
              '    at Promise.then.completed (/ci/work/node_modules/jest-circus/build/utils.js:298:28)',
          ),
        ],
      }),
      skipped('Cart empties', { ...cart, classname: 'Cart empties', ms: 0 }),
      passed(' top level works', {
        parent: 'undefined',
        file: 'src/top.test.ts',
        classname: ' top level works',
        ms: 1,
      }),
    ],
  },
  'jest-junit-escapes.xml': {
    format: 'junit',
    cases: [
      failed('Colour prints', {
        classname: 'Colour prints',
        parent: 'Colour',
        ms: 20,
        failures: [
          failure(
            '',
            '',
            'Error: expect(received).toBe(expected)\n    at Object.<anonymous> (src/colour.test.ts:4:1)',
          ),
        ],
      }),
    ],
  },
  'jest-suite-error.xml': {
    format: 'junit',
    cases: [passed('Fine works', { classname: 'Fine works', parent: 'Fine', ms: 3 })],
    problems: ['SUITE_ERROR'],
    isComplete: false,
  },
  'vitest.xml': {
    format: 'junit',
    cases: [
      passed('math > adds', { ...math, ms: 1.1 }),
      failed('math > divides > by zero', {
        ...math,
        ms: 5.4,
        failures: [
          failure(
            'AssertionError',
            'expected Infinity to be +0 // Object.is equality',
            'AssertionError: expected Infinity to be +0 // Object.is equality\n\n- Expected\n+ Received\n\n ❯ src/math.test.ts:9:21',
          ),
        ],
      }),
      skipped('math > rounds', { ...math, ms: 0 }),
    ],
  },
  'playwright.xml': {
    format: 'junit',
    cases: [
      passed('login › accepts the right password', { ...login, variant: 'chromium', ms: 1203 }),
      failed('login › refuses a wrong one', {
        ...login,
        variant: 'chromium',
        ms: 7900,
        failures: [
          failure(
            'Error',
            'Timed out 5000ms waiting for expect(locator).toBeVisible()',
            '[chromium] › login.spec.ts:14:7 › login › refuses a wrong one ─────────────\n\n' +
              '    Error: Timed out 5000ms waiting for expect(locator).toBeVisible()\n\n' +
              "    Locator: getByText('wrong password')\n\n" +
              "      16 |   await page.getByRole('button').click();\n" +
              "    > 17 |   await expect(page.getByText('wrong password')).toBeVisible();",
          ),
        ],
      }),
      passed('login › accepts the right password', { ...login, variant: 'firefox', ms: 3100 }),
      skipped('login › refuses a wrong one', { ...login, variant: 'firefox', ms: 0 }),
    ],
  },
  'playwright-retries.xml': {
    format: 'junit',
    cases: [
      flaky('pays by card', {
        classname: 'e2e/pay.spec.ts',
        parent: 'e2e/pay.spec.ts',
        variant: 'webkit',
        ms: 8000,
        failures: [
          failure(
            'TimeoutError',
            'locator.click: Timeout 5000ms exceeded.',
            '[webkit] › e2e/pay.spec.ts:3:1 › pays by card\n\n    TimeoutError: locator.click: Timeout 5000ms exceeded.',
          ),
        ],
      }),
    ],
  },
  'cypress.xml': {
    format: 'junit',
    cases: [
      passed('Shop lists products', { ...shop, classname: 'lists products', ms: 4500 }),
      failed('Shop "before each" hook', {
        ...shop,
        classname: '"before each" hook',
        ms: 0,
        failures: [
          failure(
            'CypressError',
            '`cy.request()` failed trying to load: https://shop.test/login',
            'CypressError: `cy.request()` failed trying to load\n    at <unknown> (https://shop.test/__cypress/runner/cypress_runner.js:124:1)',
          ),
        ],
      }),
      passed('Basket keeps its items', { ...shop, parent: 'Basket', classname: 'keeps its items', ms: 4700 }),
    ],
  },
  'mocha.xml': {
    format: 'junit',
    cases: [
      passed('returns -1 when absent', { classname: 'Array #indexOf()', parent: 'Mocha Tests', ms: 1 }),
      failed('throws on null', {
        classname: 'Array #indexOf()',
        parent: 'Mocha Tests',
        ms: 2,
        failures: [
          failure(
            '',
            '',
            "TypeError: Cannot read properties of null (reading 'indexOf')\n    at Context.<anonymous> (test/array.spec.js:12:9)",
          ),
        ],
      }),
      skipped('is pending', { classname: 'Array', parent: 'Mocha Tests', ms: 0 }),
      failed('"after all" hook', {
        classname: 'Array',
        parent: 'Mocha Tests',
        ms: 3,
        failures: [failure('', '', 'Error: not closed')],
      }),
    ],
  },
  'pytest.xml': {
    format: 'junit',
    cases: [
      passed('test_ok[user-admin]', { ...apiLogin, ms: 1 }),
      failed('test_bad', {
        ...apiLogin,
        ms: 0.01,
        failures: [
          failure(
            '',
            'AssertionError: assert 500 == 401',
            'def test_bad(client):\n>       assert client.get("/").status == 401\nE       AssertionError: assert 500 == 401\n\ntests/test_api.py:12: AssertionError',
          ),
        ],
      }),
      failed('test_fixture', {
        ...apiLogin,
        ms: 20,
        failures: [
          failure(
            '',
            'failed on setup with "ConnectionError: refused"',
            '@pytest.fixture\nE   ConnectionError: refused red',
          ),
        ],
      }),
      skipped('test_later', { ...api, ms: 0 }),
      failed('test_twice', {
        ...api,
        ms: 10,
        failures: [failure('', 'assert False', 'call failed\n\nteardown broke\nteardown failed')],
      }),
    ],
  },
  'pytest-xunit1.xml': {
    format: 'junit',
    cases: [
      passed('test_insert', { classname: 'tests.test_db', file: 'tests/test_db.py', ms: 50 }),
      skipped('test_known_bug', { classname: 'tests.test_db', file: 'tests/test_db.py', ms: 10 }),
    ],
  },
  'pytest-collection.xml': {
    format: 'junit',
    cases: [
      failed('tests.test_gone', {
        parent: 'pytest',
        ms: 0,
        failures: [
          failure('', 'collection failure', "ImportError while importing test module 'tests/test_gone.py'."),
        ],
      }),
    ],
  },
  'rspec.xml': {
    format: 'junit',
    cases: [
      passed('User is valid', { ...user, ms: 10 }),
      failed('User rejects "nil" names', {
        ...user,
        ms: 20,
        failures: [
          failure(
            'RSpec::Expectations::ExpectationNotMetError',
            'expected: nil\n     got: "x"',
            "Failure/Error: expect(user.name).to be_nil\n\n./spec/models/user_spec.rb:12:in `block (2 levels) in <top (required)>'",
          ),
        ],
      }),
      skipped('User is pending', { ...user, ms: 0 }),
    ],
  },
  'minitest.xml': {
    format: 'junit',
    cases: [
      passed('test_0001_saves', { ...userTest, ms: 10 }),
      failed('test_0002_fails', {
        ...userTest,
        ms: 20,
        failures: [
          failure(
            'test_0002_fails',
            'Expected: 1\n  Actual: 2',
            'Failure:\ntest_0002_fails(UserTest) [test/models/user_test.rb:10]:\nExpected: 1\n  Actual: 2',
          ),
        ],
      }),
      failed('test_0003_errors', {
        ...userTest,
        ms: 20,
        failures: [
          failure('test_0003_errors', "NoMethodError: undefined method 'x' for nil", 'Error:\nNoMethodError'),
        ],
      }),
    ],
  },
  'phpunit.xml': {
    format: 'junit',
    cases: [
      passed('testAdds', { ...money, parent: moneySuite, ms: 1 }),
      passed('testRounds with data set "half"', {
        ...money,
        parent: `${moneySuite} › Acme\\MoneyTest::testRounds`,
        ms: 1,
      }),
      failed('testRounds with data set #1', {
        ...money,
        parent: `${moneySuite} › Acme\\MoneyTest::testRounds`,
        ms: 1,
        failures: [
          failure(
            'PHPUnit\\Framework\\ExpectationFailedException',
            '',
            'Acme\\MoneyTest::testRounds with data set #1\nFailed asserting that 2 matches expected 3.',
          ),
        ],
      }),
      failed('testWarns', {
        ...money,
        classname: 'Acme\\MoneyTest',
        parent: moneySuite,
        ms: 1,
        failures: [failure('PHPUnit\\Framework\\Warning', '', 'No assertions')],
      }),
    ],
  },
};

describe('reports of JavaScript, Python, Ruby and PHP', () => {
  it.each(Object.entries(reports))('reads %s', (name, expected) => {
    expect(shapeOf(readReport(readFixture(name)))).toEqual(expectedShape(expected));
  });

  it('keeps no properties', () => {
    const read = JSON.stringify([
      readReport(readFixture('pytest.xml')),
      readReport(readFixture('surefire.xml')),
    ]);
    expect(read).not.toMatch(/hunter2|not-for-you/);
  });
});
