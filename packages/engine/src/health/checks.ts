// Every check, in the order in which `millrace doctor` shows them. A new one is a line here.
import type { Check } from './check.ts'
import { escalations } from './escalation-check.ts'
import { queueAge, queueDepth, queueSla, queueUnserved } from './queue-checks.ts'
import { deadLetters, errorRate, stuckRuns } from './run-checks.ts'
import { autovacuum, bloat, clocks, connections, notifyQueue, snapshots } from './server-checks.ts'
import { breakers, budgets } from './service-checks.ts'
import { eventLoop, leases, listening, memory, workersAlive } from './worker-checks.ts'

export const CHECKS: readonly Check[] = [
  ...[clocks, connections, autovacuum, bloat, snapshots, notifyQueue],
  ...[queueUnserved, queueDepth, queueAge, queueSla],
  ...[errorRate, stuckRuns, deadLetters],
  ...[workersAlive, leases, memory, eventLoop, listening],
  ...[breakers, budgets, escalations],
]
