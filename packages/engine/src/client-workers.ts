// The workers that a client has started: each only when the database has been looked at, all stopped together.
import type { ClientServices } from './client-services.ts'
import { EncryptionKeyMissing, InvalidDefinition, WorkerStopping } from './errors.ts'
import { checkTenantRole } from './governance/tenant-role.ts'
import { sentConnection } from './store/connection-config.ts'
import type { Database } from './store/db.ts'
import { checkSchema } from './store/migrator.ts'
import { checkServer } from './store/server.ts'
import { type WorkerSettings, type WorkOptions, workerSettings } from './worker/work-options.ts'
import { Worker } from './worker/worker.ts'

const ENGINE_CONNECTIONS = 3
const BUDGET_CONNECTIONS = 2

export class ClientWorkers {
  readonly #services: ClientServices
  readonly #workers = new Set<Worker>()
  #isClosed = false

  constructor(services: ClientServices) {
    this.#services = services
  }

  async start(options: WorkOptions): Promise<Worker> {
    const { connection, tenantRole } = this.#services
    this.#demandContracts(options)
    const settings = workerSettings(options, { connection, tenantRole })
    demandPlain(connection)
    const db = await this.#openChecked()
    if (this.#isClosed) {
      await db.close()
      throw new WorkerStopping()
    }
    const worker = this.#make(settings, db)
    this.#workers.add(worker)
    try {
      await worker.start()
    } catch (error) {
      await worker.stop()
      throw error
    }
    return worker
  }

  /** Of those that are being started, too; and no more can be. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
  }

  #demandContracts({ handlers }: WorkOptions): void {
    const { registry } = this.#services
    for (const { contract } of handlers) {
      registry.demand(contract)
      if (contract.sensitive.length > 0 && registry.keys === undefined) throw new EncryptionKeyMissing(contract.type)
    }
  }

  /** For claims and settlements. Refuses a server or schema on which the guarantees would not hold. */
  async #openChecked(): Promise<Database> {
    const { open, tenantRole } = this.#services
    const db = open(ENGINE_CONNECTIONS)
    try {
      await checkServer(db)
      await checkSchema(db)
      if (tenantRole !== undefined) await checkTenantRole(db, tenantRole)
      return db
    } catch (error) {
      await db.close()
      throw error
    }
  }

  #make(settings: WorkerSettings, db: Database): Worker {
    const { maxConnections, open } = this.#services
    const slots = settings.lanes.reduce((sum, lane) => sum + lane.slots, 0)
    return new Worker(settings, {
      ...this.#services,
      db,
      budgetDb: open(BUDGET_CONNECTIONS),
      handlerDb: open(Math.min(slots, maxConnections)),
    })
  }
}

/** The pulse thread gets a copy of it, and functions cannot be copied. */
function demandPlain(connection: ClientServices['connection']): void {
  try {
    structuredClone(sentConnection(connection))
  } catch {
    throw new InvalidDefinition(
      'A worker needs `database` as plain data, because it opens a connection in a thread: a function can only be its password, not an ssl option. Give the values themselves.',
    )
  }
}
