// The rows of the endpoint table about tests: their health, their quarantine, and the uploads that tell of both.

import type { ErrorCode } from '#base/error.ts';
import { Empty } from './common.ts';
import type { Endpoint } from './endpoint.ts';
import * as audit from './audit.ts';
import * as quarantine from './quarantine.ts';
import * as testHealth from './test-health.ts';
import * as testHistory from './test-history.ts';
import * as upload from './upload.ts';

const ofTests = ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND'] as const satisfies readonly ErrorCode[];
/** A repository that is named for the first time is looked for at its host. */
const ofNew = [...ofTests, 'HOST_ERROR'] as const satisfies readonly ErrorCode[];
const ofTest = [...ofTests, 'TEST_CASE_NOT_FOUND'] as const satisfies readonly ErrorCode[];

const read = { method: 'POST', scopes: ['read'] } as const;
const admin = { method: 'POST', scopes: ['admin'] } as const;
/** Uploads of a token that has no more than the first of these are of the untrusted tier. */
const send = { method: 'POST', scopes: ['upload', 'submit', 'admin'] } as const;
/** What an uploader asks for beside. */
const ask = { method: 'POST', scopes: ['upload', 'read', 'submit', 'admin'] } as const;

export const testHealthEndpoints = {
  listUnhealthyTests: {
    ...read,
    path: '/v1/flaky-tests/list-unhealthy-tests',
    tag: 'Test health',
    summary: 'List flaky or broken tests, those that hit most pull requests first',
    request: testHealth.ListUnhealthyRequest,
    response: testHealth.ListUnhealthyResponse,
    errors: [...ofTests, 'INVALID_PAGE_TOKEN'],
  },
  searchTests: {
    ...read,
    path: '/v1/flaky-tests/search-tests',
    tag: 'Test health',
    summary: 'Find tests of any health by name, file or class',
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
    summary: 'Read what a test did day by day, how it failed, whom it hit, and what its monitors say',
    request: testHistory.TestHistoryRequest,
    response: testHistory.TestHistoryResponse,
    errors: ofTest,
  },
  getQuarantineSummary: {
    ...read,
    path: '/v1/flaky-tests/get-quarantine-summary',
    tag: 'Test health',
    summary: 'Read how much quarantine a repository has, and what it saved',
    request: testHistory.QuarantineSummaryRequest,
    response: testHistory.QuarantineSummaryResponse,
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
    summary: 'List the tests that failed in a span of at most 7 days',
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
    summary: 'Quarantine a test always, never or by its health, for good or for a while',
    request: quarantine.SetQuarantineRequest,
    response: quarantine.QuarantineResponse,
    errors: ofTest,
  },
  flagTest: {
    ...admin,
    path: '/v1/flaky-tests/flag-test',
    tag: 'Test health',
    summary: 'Say by hand what a test’s health is, above what its monitors say',
    request: quarantine.FlagTestRequest,
    response: quarantine.QuarantineResponse,
    errors: ofTest,
  },
  muteMonitor: {
    ...admin,
    path: '/v1/flaky-tests/mute-monitor',
    tag: 'Test health',
    summary: 'Make a monitor not count for a test for a while, or count again',
    request: quarantine.MuteMonitorRequest,
    response: quarantine.MuteMonitorResponse,
    errors: ofTest,
  },
  getHealthSettings: {
    ...read,
    path: '/v1/flaky-tests/get-settings',
    tag: 'Test health',
    summary: 'Read how a repository judges and quarantines its tests',
    request: quarantine.GetSettingsRequest,
    response: quarantine.SettingsResponse,
    errors: ofTests,
  },
  updateHealthSettings: {
    ...admin,
    path: '/v1/flaky-tests/update-settings',
    tag: 'Test health',
    summary: 'Change how a repository judges and quarantines its tests; what is absent stays',
    request: quarantine.UpdateSettingsRequest,
    response: quarantine.SettingsResponse,
    errors: ofNew,
  },
  listAuditLog: {
    ...admin,
    path: '/v1/listAuditLog',
    tag: 'Organization',
    summary: 'List who changed which setting, newest first',
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
    summary: 'Read what came of an upload, and of each test that failed in it',
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
    summary: 'Ask which of some tests are quarantined, before a run is called failed',
    request: upload.QuarantineConfigRequest,
    response: upload.QuarantineConfigResponse,
    errors: ofTests,
  },
  createBundleUpload: {
    ...send,
    path: '/v1/metrics/createBundleUpload',
    tag: 'Uploads',
    summary: 'Get an address to which a bundle of reports may be put',
    request: upload.CreateBundleUploadRequest,
    response: upload.CreateBundleUploadResponse,
    errors: ofNew,
  },
  uploadClientMetrics: {
    ...ask,
    path: '/v1/flakytests-cli/upload-metrics',
    tag: 'Uploads',
    summary: 'Take an uploader’s own telemetry, and forget it',
    body: 'ignored',
    request: upload.UploadClientMetricsRequest,
    response: Empty,
    errors: [],
  },
} as const satisfies Record<string, Endpoint>;
