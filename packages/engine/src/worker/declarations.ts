// What a worker writes down about its code before it starts, and what must be there for it to write.
import { declareSchedules } from '../client/schedule-declaration.ts'
import type { Waker } from '../client/waker.ts'
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { HistoryRefused } from '../errors.ts'
import { declareHistory } from '../governance/history.ts'
import type { Logger } from '../logger.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import { isPermissionDenied } from '../sql-state.ts'
import { budgetDeclare } from '../store/budgets.ts'
import { catalogueDeclare, catalogueRefresh, type NewProgram } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { ensurePartitions } from '../store/partitions.ts'

export interface DeclarationServices {
  db: Database
  clock: Clock
  registry: Registry
  declared: DeclaredSchedules
  waker: Waker
  logger: Logger
}

/** Partitions, budgets, histories and schedules. */
export async function declareCode(services: DeclarationServices, workerId: string): Promise<void> {
  const { clock, db, registry } = services
  await ensurePartitions(db, clock.databaseNow())
  const { budgets } = registry
  if (budgets.length > 0) await budgetDeclare(db, clock.databaseNow(), budgets)
  await declareHistories(services, workerId)
  await declareFires(services, workerId)
}

/** For a worker that has its lease: the catalogue has the entries of living ones. Jobs run without it, too. */
export async function declareProgram(
  { db, clock, logger }: DeclarationServices,
  worker: string,
  program: NewProgram,
): Promise<void> {
  try {
    await catalogueDeclare(db, clock.databaseNow(), program)
    await catalogueRefresh(db, clock.databaseNow())
  } catch (error) {
    if (!isPermissionDenied(error)) throw error
    const { message } = error as Error
    logger.warn({ worker, error: message }, 'the catalogue lacks this worker: its role has no rights on the tables')
  }
}

/** Jobs run without a history too: whoever is missing it finds out why. Housekeeping tries again. */
async function declareHistories(services: DeclarationServices, workerId: string): Promise<void> {
  const { logger, registry } = services
  await declareHistory(services, registry.historic).catch((error: unknown) => {
    if (!(error instanceof HistoryRefused)) throw error
    logger.warn({ worker: workerId, types: registry.historic, error: error.message }, 'history is not kept')
  })
}

/** Whoever creates a schedule must not keep workers from starting. */
async function declareFires(
  { db, clock, declared, logger, waker }: DeclarationServices,
  worker: string,
): Promise<void> {
  const { isNews, taken } = await declareSchedules(db, clock.databaseNow(), declared.all)
  for (const schedule of taken) {
    logger.error({ worker, schedule }, 'a schedule of the code does not fire: its name is taken at run time')
  }
  if (isNews) await waker.tellWorkers([{ kind: 'schedules' }])
}
