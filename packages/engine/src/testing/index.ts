// millrace/testing: what tests of jobs need, with any test runner. By name.
export { type DrainOptions, drain } from './drain.ts'
export { assertEnqueued, type EnqueuedJob, type Expectation, enqueued, refuteEnqueued } from './enqueued.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type JobInStateOptions, jobInState, type State } from './job-in-state.ts'
export {
  type Failure,
  failureFrom,
  Past,
  type PastHolds,
  type PastRow,
  type PastRun,
  type PastTable,
  type PastWriter,
} from './past.ts'
export type { LogLine, RunOutcome, RunReport } from './report.ts'
export { type RunJobOptions, runJob } from './run-job.ts'
export { type TestDatabase, type TestDatabaseOptions, testDatabase } from './test-database.ts'
