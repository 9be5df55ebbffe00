// Every operation of the admin API, by topic.
import * as access from './access.ts'
import * as actions from './actions.ts'
import * as audit from './audit.ts'
import * as breakers from './breakers.ts'
import * as budgets from './budgets.ts'
import * as bulk from './bulk.ts'
import * as catalogue from './catalogue.ts'
import * as letterGroups from './dead-letter-groups.ts'
import * as deadLetters from './dead-letters.ts'
import type { Endpoint } from './endpoint.ts'
import * as health from './health.ts'
import * as jobs from './jobs.ts'
import * as queues from './queues.ts'
import * as schedules from './schedules.ts'
import * as stream from './stream.ts'
import * as tenants from './tenants.ts'
import { vitals } from './vitals.ts'
import * as workers from './workers.ts'
import * as workflows from './workflows.ts'

/** By topic and name: 'jobs.list' is `contract.jobs.list`. */
export const contract = {
  jobs: {
    list: jobs.list,
    search: jobs.search,
    csv: jobs.csv,
    count: jobs.count,
    timeline: jobs.timeline,
    suggest: jobs.suggest,
    get: jobs.get,
    history: jobs.history,
    explain: jobs.explain,
    enqueue: jobs.enqueue,
    retry: jobs.retry,
    cancel: jobs.cancel,
    fail: jobs.fail,
    prioritise: jobs.prioritise,
    prune: jobs.prune,
    correlation: jobs.correlation,
  },
  bulk: {
    preview: bulk.preview,
    start: bulk.start,
    list: bulk.list,
    get: bulk.get,
    items: bulk.items,
    cancel: bulk.cancel,
    proceed: bulk.proceed,
    undo: bulk.undo,
  },
  deadLetters: {
    list: deadLetters.list,
    csv: deadLetters.csv,
    groups: letterGroups.groups,
    groupFacts: letterGroups.groupFacts,
    groupVersions: letterGroups.groupVersions,
    counts: deadLetters.counts,
    get: deadLetters.get,
    acknowledge: deadLetters.acknowledge,
    redrive: deadLetters.redrive,
    resolve: deadLetters.resolve,
    ignore: deadLetters.ignore,
    note: deadLetters.addNote,
    prune: deadLetters.prune,
  },
  queues: { list: queues.list, stats: queues.readStats, fairness: queues.fairness },
  pauses: { list: queues.pauses, set: queues.setPause, end: queues.endPause },
  limits: { list: queues.limits, set: queues.setLimit, unset: queues.unsetLimit },
  keys: { list: queues.keys, continue: queues.continueKey, setLimit: queues.setKeyLimit },
  tenants: {
    list: tenants.list,
    get: tenants.get,
    queues: tenants.queues,
    set: tenants.set,
    unsetSlots: tenants.unsetSlots,
    limit: tenants.limit,
    unlimit: tenants.unlimit,
    suspend: tenants.suspend,
    resume: tenants.resume,
    delete: tenants.remove,
  },
  schedules: {
    list: schedules.list,
    get: schedules.get,
    preview: schedules.preview,
    run: schedules.run,
    pause: schedules.setPause,
    resume: schedules.resume,
    edit: schedules.edit,
    remove: schedules.remove,
    backfill: schedules.backfill,
  },
  workflows: {
    list: workflows.list,
    get: workflows.get,
    times: workflows.times,
    signal: workflows.signal,
    cancel: workflows.cancel,
    resume: workflows.resume,
    rollBack: workflows.rollBack,
  },
  workers: { list: workers.list, get: workers.get, quiet: workers.quiet, resume: workers.resume, stop: workers.stop },
  budgets: { list: budgets.list, get: budgets.get, adjust: budgets.adjust },
  breakers: {
    list: breakers.list,
    get: breakers.get,
    reset: breakers.reset,
    open: breakers.trip,
    configure: breakers.configure,
  },
  catalogue: {
    list: catalogue.list,
    jobTypes: catalogue.jobTypes,
    jobType: catalogue.jobType,
    lanes: catalogue.lanes,
  },
  health: { read: health.read, vitals },
  alerts: {
    list: health.alerts,
    rules: health.alertRules,
    silence: health.silenceAlert,
    unsilence: health.unsilenceAlert,
  },
  escalations: {
    list: health.escalations,
    acknowledge: health.acknowledgeEscalations,
    resend: health.resendEscalations,
    test: health.testEscalation,
  },
  reports: { runs: health.runs, series: health.series, queues: health.queueHistory, deadLetters: health.letters },
  audit: { list: audit.list, csv: audit.csv },
  access: {
    me: access.me,
    openApi: access.openApi,
    tokens: access.tokens,
    createToken: access.createToken,
    revokeToken: access.revokeToken,
  },
  stream: { open: stream.open },
  actions: {
    createJobsMetricsReport: actions.createJobsMetricsReport,
    getJobsHealthStatus: actions.getJobsHealthStatus,
    getDeadLetterJobs: actions.getDeadLetterJobs,
    reprocessDeadLetterJobs: actions.reprocessDeadLetterJobs,
    acknowledgeDeadLetterJobs: actions.acknowledgeDeadLetterJobs,
  },
} as const satisfies Record<string, Record<string, Endpoint>>

export type Contract = typeof contract

/** With their names, such as 'jobs.list', in order. */
export function operations(): { name: string; topic: string; endpoint: Endpoint }[] {
  return Object.entries(contract).flatMap(([topic, endpoints]) =>
    Object.entries(endpoints).map(([name, value]) => ({
      name: `${topic}.${name}`,
      topic,
      endpoint: value as Endpoint,
    })),
  )
}
