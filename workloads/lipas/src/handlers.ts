// The handlers of all job types. Only worker processes load them.
import type { Implementation } from 'millrace'
import { analysisHandler } from './handlers/analysis.ts'
import { cleanupJobsHandler } from './handlers/cleanup-jobs.ts'
import { elevationHandler } from './handlers/elevation.ts'
import { emailHandler } from './handlers/email.ts'
import { monitorQueueHealthHandler } from './handlers/monitor-queue-health.ts'
import { produceRemindersHandler } from './handlers/produce-reminders.ts'
import { afterStartup } from './handlers/startup-delay.ts'
import { webhookHandler } from './handlers/webhook.ts'
import type { LipasSystem } from './system.ts'

export function lipasHandlers(system: LipasSystem): Implementation[] {
  const { uptime } = system
  return [
    emailHandler(system),
    afterStartup('1m', produceRemindersHandler(system), uptime),
    afterStartup('5m', cleanupJobsHandler(system), uptime),
    webhookHandler(system),
    monitorQueueHealthHandler(system),
    analysisHandler(system),
    elevationHandler(system),
  ]
}
