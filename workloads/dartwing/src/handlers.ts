// The handlers of all methods. Only worker processes load them.
import type { Implementation } from 'millrace'
import { syncSessionHandler } from './auth/sync-session.ts'
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
  detectStuckJobsHandler(system),
  cleanUpDeadLettersHandler(system),
]
