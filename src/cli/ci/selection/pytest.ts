// pytest, by a plugin (`-p`). Node ids as arguments would not do: the report does not say which part of a class
// name is the file, arguments add to those of the user, and if one test is gone, pytest runs none of the others and
// exits with 4. `-k` matches parts of names. The plugin deselects tests as `-k` does, after arguments, markers
// and shards have selected theirs, and compares names as pytest itself writes them into the report.

import { encodeNames, type Runner } from './runner.ts';

const moduleName = 'signalbox_selection';

export const pytest: Runner = {
  programs: ['pytest', 'py.test'],
  accepts: () => true,
  narrow: (args, tests) => {
    // A module that cannot be imported is reported as a test without a class.
    if (tests.some(({ name, classname }) => name === '' || classname === '')) return null;
    const names = encodeNames(tests.map(({ classname, name }) => [classname, name]));
    const plugin = {
      name: `${moduleName}.py`,
      text: pluginText(names),
      folderVariable: 'PYTHONPATH',
    } as const;
    return { args: ['-p', moduleName, ...args], plugins: [plugin] };
  },
};

// Exit code 5 means that no test was selected: the selected tests do not exist in this commit, or belong to
// another job. pytest-xdist adds `@group` to names; that part is left out of the comparison.
const pluginText = (names: string): string => `# Written by Signalbox: runs only the selected tests.
import base64
import json
import os

import pytest
from _pytest.junitxml import bin_xml_escape, mangle_test_address

selected = {tuple(test) for test in json.loads(base64.b64decode("${names}"))}
selected |= {(classname, name.rpartition("@")[0]) for classname, name in selected if "@" in name}


def report_names(config, address):
    *classes, name = mangle_test_address(address)
    prefix = config.getoption("junitprefix", None)
    return ".".join([prefix] * bool(prefix) + classes), str(bin_xml_escape(name))


def is_selected(item):
    return report_names(item.config, item.nodeid) in selected


def pytest_ignore_collect(collection_path, config):
    path = os.path.relpath(str(collection_path), str(config.rootpath)).replace(os.sep, "/")
    if path.startswith("../") or path.endswith("__init__.py") or not os.path.isfile(str(collection_path)):
        return None
    module, _ = report_names(config, path + "::x")
    is_needed = any(name == module or name.startswith(module + ".") for name, _ in selected)
    return None if is_needed else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    deselected = [item for item in items if not is_selected(item)]
    if deselected:
        items[:] = [item for item in items if is_selected(item)]
        config.hook.pytest_deselected(items=deselected)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
`;
