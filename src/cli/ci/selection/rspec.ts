// RSpec, by a plugin (`--require`) that excludes every other example. `--example` would replace the tags of the
// user, and would not find an example without a description (`it { is_expected.to … }`): RSpec names it only
// after it has run. The plugin runs every such example of a group if a name of this form is selected there.

import { join } from 'node:path';
import { encodeNames, freeArguments, hasOption, type Runner } from './runner.ts';

const pluginName = 'signalbox_selection.rb';

/** They replace every other selection, that of the plugin too. */
const standalone = ['-e', '--example', '-E', '--example-matches', '--bisect'];

const optionsWithValue = new Set(['-r', '--require', '-f', '--format', '-o', '--out', '-I', '--seed']);

export const rspec: Runner = {
  programs: ['rspec'],
  // `spec/cart_spec.rb:12` and `spec/cart_spec.rb[1:2]` name examples.
  accepts: (args) =>
    !hasOption(args, standalone) &&
    !freeArguments(args, optionsWithValue).some((arg) => /:\d+$|\]$/.test(arg)),
  narrow: (args, tests, { pluginFolder }) => {
    if (tests.some(({ name }) => name.trim() === '')) return null;
    const names = encodeNames(tests.map(({ file, name }) => [file, name]));
    const plugin = { name: pluginName, text: pluginText(names), folderVariable: null };
    return { args: ['--require', join(pluginFolder, pluginName), ...args], plugins: [plugin] };
  },
};

const pluginText = (names: string): string => `# Written by Signalbox: runs only the selected examples.
require 'json'

words = ->(text) { text.to_s.split.join(' ') }
selected = JSON.parse('${names}'.unpack1('m').force_encoding('UTF-8'))
selected = selected.map { |file, name| [file, words.call(name)] }

file_of = lambda do |metadata|
  group = metadata[:example_group]
  group = group[:parent_example_group] while group[:parent_example_group]
  group[:file_path].to_s.delete_prefix('./')
end

generated = /\\A (is expected (not )?to|should|example at) /

is_selected = lambda do |metadata|
  description = words.call(metadata[:full_description])
  selected.any? do |file, name|
    next false unless file.empty? || file == file_of.call(metadata)
    next name == description unless metadata[:description_args].empty?
    name.start_with?(description) && generated.match?(name.delete_prefix(description))
  end
end

RSpec.configure do |config|
  config.fail_if_no_examples = false if config.respond_to?(:fail_if_no_examples=)
  config.filter_run_excluding(description: ->(_, metadata) { !is_selected.call(metadata) })
end
`;
