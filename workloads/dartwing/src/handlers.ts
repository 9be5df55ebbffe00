// The handlers of all methods. Only worker processes load them.
import { type Implementation, type Isolation, implement } from 'millrace'
import { syncSessionHandler } from './auth/sync-session.ts'
import { fullExport, generateReport } from './contracts/bulk.ts'
import { updateDocumentsHandler } from './crud/update-documents.ts'
import { sendEmailHandler } from './email/send-email.ts'
import { sendFaxHandler } from './fax/send-fax.ts'
import { processBatchHandler } from './imports/process-batch.ts'
import { splitHandler } from './imports/split.ts'
import { refreshTokenHandler } from './integrations/refresh-token.ts'
import { cleanUpDeadLettersHandler, detectStuckJobsHandler } from './jobs/monitoring.ts'
import { sendNotificationHandler } from './notifications/send-notification.ts'
import { processDeltaHandler } from './sync/process-delta.ts'
import type { DartwingSystem } from './system.ts'
import { dispatchHandler } from './webhooks/dispatch.ts'

/** What takes long runs in a process of its own, which ends with its timeout. None is kept ready: bulk work can wait for its start. */
const isolated = (module: string): Isolation => ({
  ...{ isolation: 'process', module: new URL(module, import.meta.url), memoryMb: 256, warm: 0 },
})

export const dartwingHandlers = (system: DartwingSystem): Implementation[] => [
  sendFaxHandler(system),
  sendNotificationHandler(system),
  syncSessionHandler(system),
  refreshTokenHandler(system),
  processDeltaHandler(),
  dispatchHandler(system),
  sendEmailHandler(system),
  updateDocumentsHandler(),
  splitHandler(system),
  processBatchHandler(system),
  implement(generateReport, isolated('./reports/generate.js')),
  implement(fullExport, isolated('./exports/full-export.js')),
  detectStuckJobsHandler(system),
  cleanUpDeadLettersHandler(system),
]
