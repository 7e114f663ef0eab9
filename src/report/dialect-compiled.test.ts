// Runners of Java, Go, C++, C#, Swift, Rust, and of acceptance tests; CTRF.

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

const order = { classname: 'com.acme.OrderTest', parent: 'com.acme.OrderTest' };
const net = { classname: 'com.acme.NetTest', parent: 'com.acme.NetTest' };
const queue = { classname: 'com.acme.QueueTest', parent: 'com.acme.QueueTest' };
const goCart = { classname: 'example.org/shop/cart', parent: 'example.org/shop/cart' };
const parser = { classname: 'ParserTest', parent: 'ParserTest', file: 'src/parser_test.cc' };
const nunit = { classname: 'Shop.Tests.CartTests', parent: 'Shop.Tests.dll › CartTests' };
const nunitOld = { classname: 'Shop.Tests.CartTests', parent: 'Shop.Tests.CartTests' };
const mail = { classname: 'Mail.Tests.SendTests', parent: 'Test collection for Mail.Tests.SendTests' };
const mailOld = { classname: 'Mail.Tests.SendTests', parent: 'Mail.Tests.dll' };
const loginTests = { classname: 'AppTests.LoginTests', parent: 'AppTests.LoginTests' };
const store = { classname: 'store', parent: 'store' };
const robot = { classname: 'Shop.Login', parent: 'Shop › Login' };
const karate = { classname: 'features.users', parent: 'features/users.feature' };
const behave = { classname: 'login.Login', parent: 'login.Login' };
const catch2 = { classname: 'units.exe.global', parent: 'units.exe' };

const reports: Readonly<Record<string, Expected>> = {
  'surefire.xml': {
    format: 'junit',
    cases: [
      passed('places', { ...order, ms: 1_234_500 }),
      failed('cancels', {
        ...order,
        ms: 20,
        failures: [
          failure(
            'org.opentest4j.AssertionFailedError',
            'expected: <1> but was: <2>',
            'org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n\tat com.acme.OrderTest.cancels(OrderTest.java:31)',
          ),
        ],
      }),
      skipped('refunds', { ...order, ms: 0 }),
      passed('ships', order),
    ],
  },
  'surefire-reruns.xml': {
    format: 'junit',
    cases: [
      flaky('connects', {
        ...net,
        attempts: 3,
        ms: 1000,
        failures: [
          failure(
            'java.net.ConnectException',
            'refused',
            'java.net.ConnectException: refused\n\tat com.acme.NetTest.connects(NetTest.java:10)',
          ),
          failure('java.io.IOException', 'reset', 'java.io.IOException: reset'),
        ],
      }),
      failed('listens', {
        ...net,
        attempts: 3,
        ms: 100,
        failures: [
          failure('java.net.BindException', 'in use', 'java.net.BindException: in use'),
          failure('java.net.BindException', 'in use', 'java.net.BindException: in use (2)'),
          failure('java.lang.IllegalStateException', 'gone', 'gone (3)'),
        ],
      }),
      passed('closes', { ...net, ms: 100 }),
    ],
  },
  'gradle.xml': {
    format: 'junit',
    cases: [
      failed('drains()', {
        ...queue,
        ms: 100,
        failures: [
          failure(
            'java.lang.AssertionError',
            'java.lang.AssertionError: not empty',
            'java.lang.AssertionError: not empty\n\tat com.acme.QueueTest.drains(QueueTest.java:20)',
          ),
        ],
      }),
      passed('drains()', { ...queue, ms: 100 }),
      passed('[1] 10', { ...queue, ms: 50 }),
      passed('[2] 20', { ...queue, ms: 50 }),
    ],
  },
  'gotestsum.xml': {
    format: 'junit',
    cases: [
      passed('TestAdd', { ...goCart, ms: 0 }),
      failed('TestTotal/with_tax#01', {
        ...goCart,
        ms: 10,
        failures: [
          failure(
            '',
            'Failed',
            '=== RUN   TestTotal/with_tax#01\n    cart_test.go:21: got 110, want 119\n    --- FAIL: TestTotal/with_tax#01 (0.01s)',
          ),
        ],
      }),
      passed('TestTotal/with_tax#01', { ...goCart, ms: 10 }),
      skipped('TestSend', { classname: 'example.org/shop/mail', parent: 'example.org/shop/mail', ms: 1 }),
      failed('TestMain', {
        parent: 'example.org/shop/broken',
        ms: 0,
        failures: [failure('', 'Failed', 'FAIL\texample.org/shop/broken [build failed]')],
      }),
    ],
  },
  'gtest.xml': {
    format: 'junit',
    cases: [
      passed('ReadsNumbers', { ...parser, ms: 4 }),
      failed('ReadsNames/2', {
        ...parser,
        ms: 3,
        failures: [
          failure(
            '',
            'src/parser_test.cc:33\nExpected equality of these values:\n  a\n  b',
            'src/parser_test.cc:33\nExpected equality of these values:\n  a\n  b\n\nsrc/parser_test.cc:34\nValue of: ok',
          ),
        ],
      }),
      skipped('DISABLED_ReadsDates', { ...parser, ms: 0 }),
      skipped('SkipsItself', { ...parser, ms: 0 }),
    ],
  },
  'bazel.xml': {
    format: 'junit',
    cases: [
      failed('lib/store_test', {
        parent: 'lib/store_test',
        ms: 3000,
        failures: [failure('', 'exited with error code 1')],
      }),
    ],
  },
  'nunit-native.xml': {
    format: 'nunit',
    cases: [
      passed('Adds', { ...nunit, ms: 11 }),
      failed('Totals(2)', {
        ...nunit,
        ms: 20,
        failures: [
          failure(
            '',
            'Expected: 4\n  But was:  5',
            'at Shop.Tests.CartTests.Totals() in C:\\ci\\CartTests.cs:line 14',
          ),
        ],
      }),
      skipped('Later', { ...nunit, ms: 0 }),
    ],
  },
  'nunit-converted.xml': {
    format: 'junit',
    cases: [
      passed('Adds', { ...nunitOld, ms: 11 }),
      failed('Totals(2)', {
        ...nunitOld,
        ms: 20,
        failures: [failure('', 'Expected: 4\nBut was:  5', 'at Shop.Tests.CartTests.Totals()')],
      }),
    ],
  },
  'xunit-native.xml': {
    format: 'xunit',
    cases: [
      passed('Mail.Tests.SendTests.Sends', { ...mail, ms: 10.5 }),
      failed('Mail.Tests.SendTests.Bounces(code: 550)', {
        ...mail,
        ms: 20,
        failures: [
          failure(
            'Xunit.Sdk.EqualException',
            'Assert.Equal() Failure',
            'at Mail.Tests.SendTests.Bounces(Int32 code)',
          ),
        ],
      }),
      skipped('Mail.Tests.SendTests.Later', { ...mail, ms: 0 }),
    ],
  },
  'xunit-converted.xml': {
    format: 'junit',
    cases: [
      passed('Sends', { ...mailOld, ms: 10.5 }),
      failed('Bounces(code: 550)', {
        ...mailOld,
        ms: 20,
        failures: [
          failure('failure', 'Assert.Equal() Failure', 'at Mail.Tests.SendTests.Bounces(Int32 code)'),
        ],
      }),
    ],
  },
  'xctest.xml': {
    format: 'junit',
    cases: [
      passed('testOpens', { ...loginTests, ms: 34 }),
      failed('testSubmits', {
        ...loginTests,
        ms: 120,
        failures: [
          failure('', 'XCTAssertEqual failed: ("1") is not equal to ("2")', 'AppTests/LoginTests.swift:41'),
        ],
      }),
      passed('testSubmits', { ...loginTests, ms: 110 }),
    ],
  },
  'swift-testing.xml': {
    format: 'junit',
    cases: [
      passed('adds()', { classname: 'AppTests.CartTests', parent: 'TestResults', ms: 2 }),
      failed('"totals" 💶()', {
        classname: 'AppTests.CartTests',
        parent: 'TestResults',
        ms: 3,
        failures: [failure('', 'Expectation failed: (total → 5) == 4')],
      }),
    ],
  },
  'ctest.xml': {
    format: 'junit',
    cases: [
      passed('unit_a', { classname: 'unit_a', parent: 'Linux-c++', ms: 12.346 }),
      failed('unit_b', { classname: 'unit_b', parent: 'Linux-c++', ms: 1500 }),
      skipped('unit_c', { classname: 'unit_c', parent: 'Linux-c++', ms: 0 }),
      skipped('unit_d', { classname: 'unit_d', parent: 'Linux-c++', ms: 0 }),
    ],
  },
  'cargo-nextest.xml': {
    format: 'junit',
    cases: [
      passed('tests::opens', { ...store, ms: 12 }),
      flaky('tests::locks', {
        ...store,
        ms: 300,
        failures: [
          failure(
            'test failure with exit code 101',
            "thread 'tests::locks' panicked at src/lib.rs:30:9",
            "thread 'tests::locks' panicked at src/lib.rs:30:9:\nlock is held",
          ),
        ],
      }),
      failed('tests::writes', {
        ...store,
        attempts: 2,
        ms: 400,
        failures: [
          failure('test failure with exit code 101', 'panicked', 'thread panicked at src/lib.rs:50'),
          failure('test abort with signal SIGABRT', 'panicked'),
        ],
      }),
    ],
  },
  'robot-xunit.xml': {
    format: 'junit',
    cases: [
      passed('Valid Login', { ...robot, ms: 500 }),
      failed('Invalid Login', {
        ...robot,
        ms: 1000,
        failures: [failure('AssertionError', "Page should have contained text 'Error'")],
      }),
      skipped('Locked Out', { ...robot, ms: 0 }),
    ],
  },
  'karate.xml': {
    format: 'junit',
    cases: [
      passed('[1:3] get all users', { ...karate, ms: 500 }),
      failed('[2:9] get one user', {
        ...karate,
        ms: 250,
        failures: [
          failure(
            '',
            'status code was: 500, expected: 200, response time in milliseconds: 31',
            'features/users.feature:11 Then status 200',
          ),
        ],
      }),
    ],
  },
  'behave.xml': {
    format: 'junit',
    cases: [
      passed('Right password', { ...behave, ms: 50 }),
      failed('Wrong password', {
        ...behave,
        ms: 50,
        failures: [
          failure(
            'AssertionError',
            'Assertion Failed: no message',
            'Failing step: Then a message is shown ... failed in 0.001s',
          ),
        ],
      }),
      failed('New step', {
        ...behave,
        ms: 50,
        failures: [failure('undefined', 'Undefined Step: Given a moon')],
      }),
      skipped('Not chosen', { ...behave, ms: 0 }),
    ],
  },
  'catch2.xml': {
    format: 'junit',
    cases: [
      passed('vectors grow', { ...catch2, ms: 1 }),
      failed('vectors grow/reserving', {
        ...catch2,
        ms: 1,
        failures: [
          failure(
            'REQUIRE',
            'v.size() == 5',
            'FAILED:\n  REQUIRE( v.size() == 5 )\nwith expansion:\n  4 == 5\nat units.cpp:20',
          ),
        ],
      }),
      failed('throws', {
        ...catch2,
        ms: 1,
        failures: [
          failure(
            'TEST_CASE',
            '',
            'FAILED:\ndue to unexpected exception with message:\n  boom\nat units.cpp:30',
          ),
        ],
      }),
    ],
  },
  'ctrf.json': {
    format: 'ctrf',
    cases: [
      passed('adds', { parent: 'cart.spec.ts › Cart', file: 'tests/cart.spec.ts', ms: 12 }),
      failed('totals', {
        parent: 'Cart',
        attempts: 3,
        ms: 31.5,
        failures: [
          failure('', 'expected 4, got 6'),
          failure('', '', 'at cart.spec.ts:9'),
          failure('', 'expected 4, got 5', 'Error: expected 4, got 5\n    at cart.spec.ts:9'),
        ],
      }),
      flaky('pays', { variant: 'chromium', ms: 100 }),
      flaky('ships', { ms: 40, failures: [failure('', 'timeout')] }),
      skipped('later', { ms: 0 }),
      skipped('never red', { ms: 0 }),
    ],
  },
};

describe('reports of compiled languages, acceptance tests and CTRF', () => {
  it.each(Object.entries(reports))('reads %s', (name, expected) => {
    expect(shapeOf(readReport(readFixture(name)))).toEqual(expectedShape(expected));
  });
});
