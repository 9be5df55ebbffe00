// The public surface, by name.

export type { Alert, AlertFilter, Alerts, SilenceOptions } from './alerts/alerts.ts'
export type { AlertOptions, AlertSettings } from './alerts/options.ts'
export { prometheusRules } from './alerts/prometheus.ts'
export { type AlertDefinition, type AlertRule, defineAlert, type Measurement } from './alerts/rule.ts'
export type { AdminTokens, CreatedToken, NewTokenOptions } from './client/admin-tokens.ts'
export type { Audit } from './client/audit.ts'
export type { Breaker, BreakerConfiguration, BreakerDecision, CircuitBreakers } from './client/breakers.ts'
export type { AdjustOptions, BudgetClient, BudgetPeriodOption } from './client/budgets.ts'
export type { Bulk } from './client/bulk.ts'
export { BULK_ACTIONS as bulkActions, type BulkAction, type BulkActionName } from './client/bulk-judge.ts'
export type {
  BulkGroup,
  BulkOperation,
  BulkPreview,
  BulkReport,
  BulkRequest,
  BulkSelection,
  BulkStartOptions,
} from './client/bulk-report.ts'
export type { Catalogue, CatalogueEntry } from './client/catalogue.ts'
export type {
  CatalogueBudget,
  CatalogueDocuments,
  CatalogueKind,
  CatalogueLane,
  CatalogueLimit,
  CatalogueQueue,
  CatalogueSchedule,
  CatalogueStep,
  CatalogueType,
  CatalogueWorkflow,
} from './client/catalogue-document.ts'
export type {
  CorrelatedJobs,
  CorrelationOptions,
  CorrelationTrace,
  TracedRun,
  TraceEntry,
} from './client/correlation.ts'
export type {
  AcknowledgeResult,
  DeadLetterDetails,
  DeadLetters,
  IgnoreResult,
  LetterIds,
  LetterPruneOptions,
  NoteResult,
  RedriveOptions,
  ResolveResult,
} from './client/dead-letters.ts'
export type { Duties } from './client/duties.ts'
export type { EncryptionKeys, KeysProgress, KeyUse, RotationResult } from './client/encryption-keys.ts'
export type { EnqueueByTypeOptions } from './client/enqueue-by-type.ts'
export type { EnqueueAnswer, EnqueueItem, EnqueueItemsOptions } from './client/enqueue-items.ts'
export type { EnqueueOptions, OptionsArgument } from './client/enqueue-options.ts'
export type { EnqueueResult } from './client/enqueuer.ts'
export type { EraseSelection } from './client/erase-selection.ts'
export type { EraseProgress, EraseRequest, EraseResult } from './client/erasure.ts'
export type { EscalationOutbox } from './client/escalation-outbox.ts'
export type { AcknowledgedEscalation, EscalateOptions, Escalations, Fault } from './client/escalations.ts'
export type { ExplainOptions, Explanation } from './client/explain.ts'
export type { FailOptions, FailResult } from './client/fail.ts'
export type { Fairness, RuleShare, ShareCell, TenantQueue, TenantShare } from './client/fairness-picture.ts'
export type { HistorySettings } from './client/history-settings.ts'
export type { Scanned } from './client/job-finder.ts'
export type { KeyLimitName, KeyName, Keys } from './client/keys.ts'
export type { LimitState, Limits, LimitUse } from './client/limits.ts'
export type { CancelResult } from './client/manage.ts'
export type { PauseOptions, Pauses, ResumeOptions, Resumption } from './client/pauses.ts'
export type { PrioritiseOptions, PrioritiseResult } from './client/prioritise.ts'
export type { PruneOptions, PruneResult } from './client/prune.ts'
export type { RedriveResult, RefusalReason } from './client/redrive.ts'
export type {
  CountAndOldest,
  HoursReport,
  LetterPoint,
  LetterSeries,
  QueuePoint,
  QueueSeries,
  QueueStats,
  ReportSelection,
  ReportSpan,
  Reports,
  RunReport,
  RunSeries,
  SeriesPoint,
  TypeReport,
} from './client/reports.ts'
export type { JobResult, ResultOptions } from './client/results.ts'
export type { RetryResult } from './client/retry.ts'
export type { RunSummary, Spread } from './client/run-summary.ts'
export type { BackfillRange, BackfillResult, By } from './client/schedule-backfill.ts'
export type { ScheduleEdit } from './client/schedule-edit.ts'
export type { ScheduleState, ScheduleStatus } from './client/schedule-state.ts'
export type { NewScheduleOptions, ScheduleDetails, SchedulePause, Schedules } from './client/schedules.ts'
export type {
  CountOptions,
  JobCount,
  JobFilter,
  JobSearch,
  JobTimeline,
  SearchOptions,
  SearchOrder,
  SearchPage,
  SearchScope,
} from './client/search.ts'
export type { QueueState, RecentStats, Stats, TenantStats, TypeStats } from './client/stats.ts'
export type { Suggestion, Suggestions } from './client/suggest.ts'
export type { TenantWorkOptions } from './client/tenant-work.ts'
export type { SlotsOptions, TenantOptions, Tenants } from './client/tenants.ts'
export type { WorkerAsk, WorkerReport, WorkerState, Workers } from './client/workers.ts'
export type { WorkflowChangeResult } from './client/workflow-changes.ts'
export type { EndedWorkflow } from './client/workflow-end.ts'
export type { SignalOptions, SignalResult } from './client/workflow-signal.ts'
export type { StartOptions } from './client/workflow-start.ts'
export type { ChainLink, StartArguments, WorkflowDetails, Workflows } from './client/workflows.ts'
export type { Clock } from './clock.ts'
export { type AttributeValue, payloadAttributes } from './contract/attributes.ts'
export type { BoostOptions, BoostStep } from './contract/boost.ts'
export {
  type Budget,
  type BudgetDefinition,
  type BudgetLevel,
  type BudgetPeriod,
  type BudgetSource,
  type BudgetSpending,
  defineBudget,
} from './contract/budget.ts'
export type { Dedupe, DedupeMode, DedupeRule } from './contract/dedupe.ts'
export { type Duration, toMs } from './contract/duration.ts'
export type { HistoryOption } from './contract/history.ts'
export {
  defineJob,
  type JobContract,
  type PayloadInput,
  type PayloadOutput,
  type ResultInput,
  type ResultOutput,
  type Retention,
} from './contract/job.ts'
export { type EncryptionKey, type EncryptionOptions, encryptionFrom } from './contract/key-ring.ts'
export type { KeyLimitPolicy, OrderPolicy } from './contract/keyed.ts'
export type { LetterRetentionOptions } from './contract/letter-retention.ts'
export { defineLimit, type Limit, type LimitOptions } from './contract/limit.ts'
export type { LogsOption } from './contract/logs.ts'
export { cancel, discard, type Outcome, RetryAfter, snooze } from './contract/outcome.ts'
export type { SealOptions } from './contract/own-sealed.ts'
export { type CheckedPayload, checkPayload } from './contract/payload.ts'
export type { Progress } from './contract/progress.ts'
export { defineQueues, type Queue, type QueueOptions, type TenantJobs } from './contract/queue.ts'
export type { QueueFacts, QueueOwner } from './contract/queue-facts.ts'
export type { DeadReason, RedrivePolicy } from './contract/redrive.ts'
export { type Backoff, delays, exponential, fixed, type Jitter, linear, type RetryPolicy } from './contract/retry.ts'
export { type BreakerSettings, defineService, type Service, type ServiceOptions } from './contract/service.ts'
export type { PayloadStep, PayloadSteps } from './contract/versions.ts'
export type { EnqueueWarning, EnqueueWarningCode } from './contract/warning.ts'
export { endWorker } from './end-worker.ts'
export {
  BreakerOpen,
  BudgetExceeded,
  type BudgetRefusal,
  BudgetSourceFailed,
  BulkNotFound,
  ClientClosed,
  ConnectionLost,
  ContractRequired,
  DatabaseConflict,
  DatabaseRefused,
  DatabaseTimeout,
  DatabaseUnavailable,
  EncryptionKeyMissing,
  EnqueueUnknown,
  HistoryRefused,
  InvalidDefinition,
  InvalidPayload,
  InvalidQuery,
  InvalidResult,
  IsolatedCrash,
  JobNotFound,
  KeyBusy,
  LeaseLost,
  MigrationFailed,
  MillraceError,
  type MillraceErrorCode,
  NewerPayload,
  NotATransaction,
  OnceBusy,
  PayloadNotUpgraded,
  PermissionDenied,
  ResultMismatch,
  ResultTimeout,
  SchemaMissing,
  SchemaTooNew,
  SchemaTooOld,
  SealNotOpened,
  type SealRefusal,
  SearchTimeout,
  SecretInPayload,
  TenantBusy,
  TenantIsolationViolation,
  TenantLimitReached,
  TenantMismatch,
  TenantRequired,
  TenantSuspended,
  TimedOut,
  TransactionFailed,
  Undecryptable,
  UnknownBudget,
  UnknownJobType,
  UnknownSchedule,
  UnknownService,
  UnknownSignal,
  UnknownWorkflow,
  Unrecoverable,
  UnsupportedDatabase,
  WorkerNotFound,
  WorkerStopping,
  WorkflowNotFound,
  WorkflowTimeout,
} from './errors.ts'
export type {
  AlertEvent,
  BreakerEvent,
  CountedJobs,
  Events,
  JobRef,
  MillraceEvents,
  RunEnd,
  WorkflowRef,
} from './events.ts'
export type { Failure } from './failure.ts'
export type { BreakerCallOptions } from './governance/breaker-call.ts'
export type { BudgetSourceReading, BudgetStatus } from './governance/budget-status.ts'
export type { OnceOptions } from './governance/once.ts'
export { pausesOf } from './governance/pause-reason.ts'
export type { Mechanism, Reason } from './governance/reason.ts'
export type { TenantDbOptions } from './governance/tenant-db.ts'
export {
  type TenantPolicy,
  type TenantPolicyOptions,
  type TenantPolicyReport,
  type TenantTable,
  tenantPolicySql,
} from './governance/tenant-policies.ts'
export type { JobWorkflow } from './governance/workflow-place.ts'
export type { BreakerVitals, QueueVitals, RunVitals, TenantVitals, TypeVitals, Vitals } from './health/vitals.ts'
export type { LaneVitals, WorkerVitals } from './health/worker-vitals.ts'
export type { Logger } from './logger.ts'
export {
  type MigrationProgress,
  type MigrationStatus,
  migrate,
  migrationDryRun,
  migrationStatus,
} from './migrate.ts'
export { createMillrace, type Millrace } from './millrace.ts'
export type { MillraceOptions } from './millrace-options.ts'
export {
  checkProgramMigrations,
  migrateProgram,
  type ProgramMigrations,
  programMigrationDryRun,
  programMigrationStatus,
} from './program-migrations.ts'
export {
  defineSchedule,
  type MissedPolicy,
  type OverlapPolicy,
  type Schedule,
  type ScheduleDefinition,
  type ScheduleFire,
  type ScheduleOptions,
  type ScheduleSettings,
  type Skip,
  skip,
} from './schedule/define.ts'
export { describe as describeTiming } from './schedule/describe.ts'
export { type FireRange, fires, nextFire } from './schedule/next-fire.ts'
export type { CalendarRule, CalendarTiming, CronTiming, IntervalTiming, Timing, Weekday } from './schedule/timing.ts'
export {
  type CalendarOptions,
  type CalendarRuleOptions,
  type Cron,
  calendar,
  cron,
  every,
  type Interval,
  timingOf,
  type When,
} from './schedule/when.ts'
export { FIELDS as searchFields, type Field as SearchField, type FieldKind, type FieldName } from './search/fields.ts'
export type { Condition, JobQuery, Match, Moment, Operator, QueryProblem, ReadQuery } from './search/query.ts'
export { quoted as quotedValue } from './search/terms.ts'
export type { AdminRole, AdminToken } from './store/admin-tokens.ts'
export type { AlertSeverity, AlertSilence } from './store/alerts.ts'
export type { AuditEntry, AuditFilter, AuditOrigin, NewAuditEntry } from './store/audit.ts'
export type { BreakerState } from './store/breakers.ts'
export type { BudgetUsage } from './store/budgets.ts'
export type { BulkCanary, BulkItem, BulkOutcome, BulkStage, BulkStatus } from './store/bulk.ts'
export type { CatalogueWorker } from './store/catalogue.ts'
export type { DeadLetterGroupFacts, DeadLetterVersion } from './store/dead-letter-groups.ts'
export type {
  DeadLetter,
  DeadLetterCounts,
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterGroupFilter,
  DeadLetterStatus,
  OriginalJob,
} from './store/dead-letters.ts'
export {
  DELIVER_TYPE,
  type DueChannel,
  ESCALATION_QUEUE,
  type Escalation,
  type EscalationFacts,
  type EscalationFilter,
  type EscalationKind,
  type EscalationNews,
  type EscalationRoute,
  type EscalationSeverity,
  type EscalationStanding,
  type ListedEscalation,
  type SendFailure,
  type SettledPage,
  type TakeOptions,
  type UnroutedEscalation,
} from './store/escalations.ts'
export type { Ahead } from './store/explain.ts'
export type { HistorySetting, JobEvent, JobEventName } from './store/history.ts'
export type { Job, JobAttempt, JobDetails, JobStatus, QueueCount } from './store/jobs.ts'
export type { KeyLimitSetting, StoppedKey } from './store/keyed-work.ts'
export type { MetricStep, RunOutcome } from './store/metrics.ts'
export type { JobStep } from './store/once-keys.ts'
export type { Pause, PauseTarget } from './store/pauses.ts'
export type { JobProgress } from './store/progress.ts'
export type { TenantStatus } from './store/rules.ts'
export type { ScheduleTick, TickOrigin, TickOutcome, TickResult } from './store/schedule-ticks.ts'
export type { ScheduleSource } from './store/schedules.ts'
export type { Queryable } from './store/statements.ts'
export type { OnExcess, Tenant, TenantFilter, TenantLimit, TenantSlots } from './store/tenants.ts'
export type { SnapshotHolder } from './store/upkeep.ts'
export type { DeadLetterVitals, StuckRun, WorkerDeath } from './store/vitals.ts'
export type { WorkerRequest } from './store/workers.ts'
export type { StartedWorkflow, StepTimes, WorkflowFilter, WorkflowStep } from './store/workflows.ts'
export type { Finding, Health, HealthArea, HealthFigures, Verdict } from './verdict.ts'
export { VERSION as version } from './version.ts'
export { type WorkSettings, workSettingsFrom } from './work-env.ts'
export {
  type Handler,
  type Implementation,
  type ImplementOptions,
  implement,
  type JobContext,
} from './worker/context.ts'
export type { StepOptions } from './worker/effects.ts'
export type { Isolation } from './worker/isolation/isolation.ts'
export type { LaneOptions } from './worker/lane-plan.ts'
export type { Middleware, MiddlewareRun } from './worker/middleware.ts'
export type { Reservation, RunBudget, SpendOptions } from './worker/run-budget.ts'
export { CancelRequested } from './worker/verdict.ts'
export type { MemoryOptions, OverloadOptions, WorkOptions } from './worker/work-options.ts'
export type { LaneDescription, Worker } from './worker/worker.ts'
export { type BatchOptions, defineBatch } from './workflow/batch.ts'
export type { Workflow } from './workflow/builder.ts'
export { type ChainOptions, chain } from './workflow/chain.ts'
export { defineWorkflow, type WorkflowOptions } from './workflow/define.ts'
export type {
  JobCounts,
  StepDefinition,
  StepScope,
  UndoScope,
  WorkflowDefinition,
  WorkflowInput,
} from './workflow/definition.ts'
export type { FailurePolicy, StepKind, StepStatus, UndoStatus, WorkflowStatus } from './workflow/graph.ts'
export type { Delay, StartRules } from './workflow/start-rules.ts'
export type { Handed } from './workflow/step-options.ts'
export type { WaitDefinition } from './workflow/waits.ts'
