// millrace.tenantDb: what ctx.tenantDb is in a handler, for a program outside of jobs, such as a web process.
//
// It has connections of its own. `enqueue({ tx })` inside asks the client's pool about the tenant, and code that holds a
// connection must not ask the same pool for another one.
import { InvalidDefinition } from '../errors.ts'
import { TenantDb, type TenantDbServices } from '../governance/tenant-db.ts'
import { checkTenantRole } from '../governance/tenant-role.ts'
import type { Database } from '../store/db.ts'
import type { Queryable } from '../store/statements.ts'
import { label } from './enqueue-options.ts'
import { typedError } from './typed-errors.ts'

/** Longer work belongs into a job. */
const LONGEST_MS = 60_000

export interface TenantWorkOptions {
  /** What policies read as `millrace.acting_user`, and who is named in the audit log if something is refused. */
  actingUser?: string
}

interface Services extends TenantDbServices {
  maxConnections: number
  open(maxConnections: number): Database
}

export class TenantWork {
  readonly #services: Services
  readonly #tenantDb: TenantDb
  #connections: Database | undefined
  #checked: Promise<void> | undefined

  constructor(services: Services) {
    this.#services = services
    this.#tenantDb = new TenantDb(services)
  }

  /** What `work` throws is thrown as it is, behind a rollback. */
  async run<Value>(
    tenant: string,
    work: (tx: Queryable) => Promise<Value>,
    { actingUser }: TenantWorkOptions = {},
  ): Promise<Value> {
    let thrown: { error: unknown } | undefined
    const watched = async (tx: Queryable): Promise<Value> => {
      try {
        return await work(tx)
      } catch (error) {
        thrown = { error }
        throw error
      }
    }
    try {
      return await this.#tenantDb.run(
        { jobId: null, type: null, tenant: tenantName(tenant), createdBy: label(actingUser ?? null, 'actingUser') },
        {
          work: watched,
          options: {},
          inTransaction: async (inside) => (await this.#open()).transaction(inside, LONGEST_MS),
        },
      )
    } catch (error) {
      throw thrown?.error === error ? error : typedError(error, this.#services.db.schema)
    }
  }

  async close(): Promise<void> {
    await this.#connections?.close()
  }

  /** The role is looked at once, before the first work. */
  async #open(): Promise<Database> {
    const { maxConnections, open, tenantRole = '' } = this.#services
    this.#connections ??= open(maxConnections)
    this.#checked ??= checkTenantRole(this.#connections, tenantRole)
    try {
      await this.#checked
    } catch (error) {
      this.#checked = undefined
      throw error
    }
    return this.#connections
  }
}

function tenantName(tenant: string): string {
  const name = label(tenant ?? null, 'tenant')
  if (name) return name
  throw new InvalidDefinition(
    'millrace.tenantDb was called without a tenant: name the one whose rows the work may see.',
  )
}
