// The rows of the endpoint table about tests: their health, their quarantine, and uploads of results.

import type { ErrorCode } from '#base/error.ts';
import { Empty } from '../common.ts';
import type { Endpoint } from './endpoint-type.ts';
import * as accuracy from '../health/accuracy.ts';
import * as audit from '../audit.ts';
import * as newTest from '../health/new-test.ts';
import * as quarantine from '../health/quarantine.ts';
import * as quarantineList from '../health/quarantine-list.ts';
import * as settingsTrial from '../health/settings-trial.ts';
import * as testHealth from '../test-health.ts';
import * as testHistory from '../health/test-history.ts';
import * as testSelection from '../health/test-selection.ts';
import * as testSplit from '../health/test-split.ts';
import * as upload from '../health/upload.ts';

const ofTests = ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND'] as const satisfies readonly ErrorCode[];
/** A repository that is named for the first time is looked up at its host. */
const ofNew = [...ofTests, 'HOST_ERROR'] as const satisfies readonly ErrorCode[];
const ofTest = [...ofTests, 'TEST_CASE_NOT_FOUND'] as const satisfies readonly ErrorCode[];

const read = { method: 'POST', scopes: ['read'] } as const;
const admin = { method: 'POST', scopes: ['admin'] } as const;
/** Uploads of a token that has no more than the first of these are of the untrusted tier. */
const send = { method: 'POST', scopes: ['upload', 'submit', 'admin'] } as const;
/** What an uploader also requests. */
const ask = { method: 'POST', scopes: ['upload', 'read', 'submit', 'admin'] } as const;

export const testHealthEndpoints = {
  listUnhealthyTests: {
    ...read,
    path: '/v1/flaky-tests/list-unhealthy-tests',
    tag: 'Test health',
    summary: 'List flaky or broken tests, those that affect most pull requests first',
    request: testHealth.ListUnhealthyRequest,
    response: testHealth.ListUnhealthyResponse,
    errors: [...ofTests, 'INVALID_PAGE_TOKEN'],
  },
  searchTests: {
    ...read,
    path: '/v1/flaky-tests/search-tests',
    tag: 'Test health',
    summary: 'Find tests of any status by name, file or class',
    request: testHealth.SearchTestsRequest,
    response: testHealth.SearchTestsResponse,
    errors: ofTests,
  },
  getTestDetails: {
    ...read,
    path: '/v1/flaky-tests/get-test-details',
    tag: 'Test health',
    summary: 'Read one test with its failures and rates',
    request: testHealth.TestDetailsRequest,
    response: testHealth.TestDetailsResponse,
    errors: ofTest,
  },
  getTestHistory: {
    ...read,
    path: '/v1/flaky-tests/get-test-history',
    tag: 'Test health',
    summary: 'Read the history of a test: results per day, failures, affected pull requests and monitors',
    request: testHistory.TestHistoryRequest,
    response: testHistory.TestHistoryResponse,
    errors: ofTest,
  },
  getQuarantineSummary: {
    ...read,
    path: '/v1/flaky-tests/get-quarantine-summary',
    tag: 'Test health',
    summary: 'Read how many tests of a repository are quarantined, and how many pull requests that unblocked',
    request: testHistory.QuarantineSummaryRequest,
    response: testHistory.QuarantineSummaryResponse,
    errors: ofTests,
  },
  getTestAccuracy: {
    ...read,
    path: '/v1/flaky-tests/get-accuracy',
    tag: 'Test health',
    summary:
      'Read how often verdicts on the tests of a repository were confirmed or overturned by what came later',
    request: accuracy.AccuracyRequest,
    response: accuracy.AccuracyResponse,
    errors: ofTests,
  },
  listQuarantinedTests: {
    ...read,
    path: '/v1/flaky-tests/list-quarantined-tests',
    tag: 'Test health',
    summary: 'List quarantined tests, newest first',
    request: testHealth.ListQuarantinedRequest,
    response: testHealth.ListQuarantinedResponse,
    errors: [...ofTests, 'INVALID_PAGE_TOKEN'],
  },
  listFailingTests: {
    ...read,
    path: '/v1/flaky-tests/list-failing-tests',
    tag: 'Test health',
    summary: 'List the tests that failed in a period of at most 7 days',
    request: testHealth.ListFailingRequest,
    response: testHealth.ListFailingResponse,
    errors: [...ofTests, 'INVALID_PAGE_TOKEN'],
  },
  linkTicketToTestCase: {
    ...admin,
    path: '/v1/flaky-tests/link-ticket-to-test-case',
    tag: 'Test health',
    summary: 'Link a ticket to a test',
    request: testHealth.LinkTicketRequest,
    response: Empty,
    errors: ['REPOSITORY_NOT_FOUND', 'TEST_CASE_NOT_FOUND'],
  },
  setQuarantine: {
    ...admin,
    path: '/v1/flaky-tests/set-quarantine',
    tag: 'Test health',
    summary: 'Quarantine a test always, never or automatically, with or without an end',
    request: quarantine.SetQuarantineRequest,
    response: quarantine.QuarantineResponse,
    errors: ofTest,
  },
  exportQuarantine: {
    ...read,
    path: '/v1/flaky-tests/export-quarantine',
    tag: 'Test health',
    summary: 'List every quarantine of a repository, for a file that is reviewed',
    request: quarantineList.ExportQuarantineRequest,
    response: quarantineList.ExportQuarantineResponse,
    errors: ofTests,
  },
  importQuarantine: {
    ...admin,
    path: '/v1/flaky-tests/import-quarantine',
    tag: 'Test health',
    summary: 'Apply a list of quarantines to a repository, all at once',
    request: quarantineList.ImportQuarantineRequest,
    response: quarantineList.ImportQuarantineResponse,
    errors: ofTests,
  },
  flagTest: {
    ...admin,
    path: '/v1/flaky-tests/flag-test',
    tag: 'Test health',
    summary: 'Set the status of a test manually; it overrides the monitors',
    request: quarantine.FlagTestRequest,
    response: quarantine.QuarantineResponse,
    errors: ofTest,
  },
  muteMonitor: {
    ...admin,
    path: '/v1/flaky-tests/mute-monitor',
    tag: 'Test health',
    summary: 'Mute a monitor for a test until a time, or unmute it',
    request: quarantine.MuteMonitorRequest,
    response: quarantine.MuteMonitorResponse,
    errors: ofTest,
  },
  verifyFix: {
    ...admin,
    path: '/v1/flaky-tests/verify-fix',
    tag: 'Test health',
    summary: 'Have CI repeat a test that was fixed, until that is shown or refuted',
    request: testHealth.VerifyFixRequest,
    response: testHealth.FixVerificationResponse,
    errors: [...ofTest, 'FIX_NOT_VERIFIABLE'],
  },
  cancelFixVerification: {
    ...admin,
    path: '/v1/flaky-tests/cancel-fix-verification',
    tag: 'Test health',
    summary: 'End the verification of the fix of a test',
    request: testHealth.CancelFixVerificationRequest,
    response: testHealth.FixVerificationResponse,
    errors: ofTest,
  },
  setTestRename: {
    ...admin,
    path: '/v1/flaky-tests/set-test-rename',
    tag: 'Test health',
    summary: 'Confirm or state that a test was renamed, or undo it',
    request: quarantine.SetTestRenameRequest,
    response: quarantine.SetTestRenameResponse,
    errors: ofTest,
  },
  getHealthSettings: {
    ...read,
    path: '/v1/flaky-tests/get-settings',
    tag: 'Test health',
    summary: 'Read the test-health settings of a repository',
    request: quarantine.GetSettingsRequest,
    response: quarantine.SettingsResponse,
    errors: ofTests,
  },
  updateHealthSettings: {
    ...admin,
    path: '/v1/flaky-tests/update-settings',
    tag: 'Test health',
    summary: 'Change the test-health settings of a repository; absent settings keep their values',
    request: quarantine.UpdateSettingsRequest,
    response: quarantine.SettingsResponse,
    errors: ofNew,
  },
  tryHealthSettings: {
    ...read,
    path: '/v1/flaky-tests/try-settings',
    tag: 'Test health',
    summary:
      'Try test-health settings on the last 14 days without saving them: which tests they would change',
    request: settingsTrial.TrySettingsRequest,
    response: settingsTrial.TrySettingsResponse,
    errors: ofTests,
  },
  listAuditLog: {
    ...admin,
    path: '/v1/listAuditLog',
    tag: 'Organization',
    summary: 'List changes of settings with their authors, newest first',
    request: audit.ListAuditLogRequest,
    response: audit.ListAuditLogResponse,
    errors: ['INVALID_PAGE_TOKEN'],
  },
  uploadReport: {
    ...send,
    path: '/v1/flaky-tests/upload',
    tag: 'Uploads',
    summary: 'Upload one test report in one request',
    body: 'report',
    request: upload.UploadReportRequest,
    response: upload.UploadReportResponse,
    errors: [...ofNew, 'NOT_A_REPORT'],
  },
  getUpload: {
    ...ask,
    path: '/v1/flaky-tests/get-upload',
    tag: 'Uploads',
    summary: 'Read the result of an upload and the verdict on each failed test',
    request: upload.GetUploadRequest,
    response: upload.GetUploadResponse,
    errors: [...ofTests, 'UPLOAD_NOT_FOUND'],
  },
  listUploads: {
    ...read,
    path: '/v1/flaky-tests/list-uploads',
    tag: 'Uploads',
    summary: 'List uploads, newest first',
    request: upload.ListUploadsRequest,
    response: upload.ListUploadsResponse,
    errors: [...ofTests, 'INVALID_PAGE_TOKEN'],
  },
  getQuarantineConfig: {
    ...ask,
    path: '/v1/metrics/getQuarantineConfig',
    tag: 'Uploads',
    summary: 'Check which of the given tests are quarantined, before a job fails because of them',
    request: upload.QuarantineConfigRequest,
    response: upload.QuarantineConfigResponse,
    errors: ofTests,
  },
  getTestSelection: {
    ...ask,
    path: '/v1/flaky-tests/get-test-selection',
    tag: 'Uploads',
    summary: 'Read which tests a CI job must run on a commit, or that it must run all of them',
    request: testSelection.TestSelectionRequest,
    response: testSelection.TestSelectionResponse,
    errors: ofTests,
  },
  listNewTests: {
    ...ask,
    path: '/v1/flaky-tests/list-new-tests',
    tag: 'Uploads',
    summary: 'Check which of the given tests the default branch has never seen',
    request: newTest.ListNewTestsRequest,
    response: newTest.ListNewTestsResponse,
    errors: ofTests,
  },
  getFileDurations: {
    ...send,
    path: '/v1/flaky-tests/get-file-durations',
    tag: 'Uploads',
    summary: 'Read how long test files take, to divide them among the shards of a CI job',
    request: testSplit.FileDurationsRequest,
    response: testSplit.FileDurationsResponse,
    errors: ofNew,
  },
  createBundleUpload: {
    ...send,
    path: '/v1/metrics/createBundleUpload',
    tag: 'Uploads',
    summary: 'Get a URL to which a bundle of reports can be uploaded',
    request: upload.CreateBundleUploadRequest,
    response: upload.CreateBundleUploadResponse,
    errors: ofNew,
  },
  uploadClientMetrics: {
    ...ask,
    path: '/v1/flakytests-cli/upload-metrics',
    tag: 'Uploads',
    summary: 'Accept telemetry of an uploader; it is not stored',
    body: 'ignored',
    request: upload.UploadClientMetricsRequest,
    response: Empty,
    errors: [],
  },
} as const satisfies Record<string, Endpoint>;
