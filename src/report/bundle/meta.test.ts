import { describe, expect, it } from 'vitest';
import { parseMeta } from './meta.ts';

describe('meta.json', () => {
  it('needs no key, and ignores those it does not know', () => {
    expect(parseMeta('{"cosmic": {"rays": 1}}')).toMatchObject({
      file_sets: [],
      envs: {},
      quarantined_tests: [],
      failed_tests: [],
    });
  });

  it('leaves out what has another type than expected, and keeps the rest', () => {
    const meta = parseMeta(
      JSON.stringify({
        version: 1,
        org: 'acme',
        repo: 'no object',
        num_tests: '12',
        upload_time_epoch: 'soon',
        envs: { CI: 'true', NUMBER: 5 },
        file_sets: [
          {
            file_set_type: 'Junit',
            files: [{ path: 'junit/0', owners: null }, { original_path: 'no path' }, 7],
          },
          'no set',
        ],
        quarantined_tests: [{ name: 'a', parentName: 'p' }, null],
      }),
    );
    expect(meta).toMatchObject({
      org: 'acme',
      num_tests: 12,
      envs: { CI: 'true' },
      file_sets: [{ file_set_type: 'Junit', files: [{ path: 'junit/0', owners: [] }] }],
      quarantined_tests: [{ name: 'a', parentName: 'p' }],
    });
    expect(meta?.file_sets[0]?.files).toHaveLength(1);
    expect([meta?.version, meta?.repo, meta?.upload_time_epoch]).toEqual([undefined, undefined, undefined]);
    expect(meta?.envs).not.toHaveProperty('NUMBER');
  });

  it('says whether the job can run selected tests, by nothing but a boolean', () => {
    expect(parseMeta('{"can_select_tests": true}')?.can_select_tests).toBe(true);
    expect(parseMeta('{"can_select_tests": "true"}')?.can_select_tests).toBeUndefined();
  });

  it('makes no number of what is none', () => {
    const meta = parseMeta(
      '{"num_tests": null, "upload_time_epoch": "", "repo": {"repo_head_commit_epoch": true}}',
    );
    expect([meta?.num_tests, meta?.upload_time_epoch, meta?.repo?.repo_head_commit_epoch]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is nothing when it is no object', () => {
    for (const json of ['', '[]', 'null', '"text"', '{']) expect(parseMeta(json)).toBeNull();
  });
});
