import { randomUUID } from 'node:crypto'
import { type Implementation, tenantPolicySql, type WorkOptions } from 'millrace'
import pg from 'pg'
import { inject } from 'vitest'
import { setup, shortLease } from './setup.ts'

/** A database with a role for tenants and a table `task`, in which organizations a and b have a row each. */
export async function tenants() {
  const t = await setup()
  const roles: string[] = []

  /** Roles belong to the whole server: each has a name of its own and goes when the database has gone. */
  async function makeRole(kind = ''): Promise<string> {
    const name = `tenant_${randomUUID().replaceAll('-', '')}`
    await t.sql(`create role ${name} ${kind}`)
    roles.unshift(name)
    return name
  }

  const role = await makeRole()
  await t.sql('create table task (id int primary key, organization_id text not null, title text)')
  await t.sql(tenantPolicySql({ table: 'task', column: 'organization_id', role }))
  await t.sql(`insert into task values (1, 'a', 'of a'), (2, 'b', 'of b')`)
  return {
    ...t,
    role,
    makeRole,
    /** The same database for another login. */
    as(user: string, password: string): pg.ClientConfig {
      const { pathname, port, hostname } = new URL(t.url)
      return { host: hostname, port: Number(port), database: pathname.slice(1), user, password }
    },
    /** A client with a worker; one connection for handlers, so that each sees what the one before left behind. */
    async working(handlers: readonly Implementation[], options: Partial<WorkOptions> = {}) {
      const millrace = t.client(
        handlers.map((each) => each.contract),
        { tenantRole: role, maxConnections: 1 },
      )
      const worker = await millrace.work({ handlers, lease: shortLease, gracePeriod: '5s', ...options })
      return { millrace, worker }
    },
    tasks: () => t.sql('select id, organization_id, title from task order by id'),
    audit: () => t.sql('select actor as by, action, target, tenant, details from millrace.audit_log order by id'),
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]()
      const admin = new pg.Client(inject('serverUrl'))
      await admin.connect()
      for (const each of roles) await admin.query(`drop role ${each}`)
      await admin.end()
    },
  }
}
