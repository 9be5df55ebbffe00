// A login that owns its database and is no superuser, as in production.
import { randomUUID } from 'node:crypto'
import pg from 'pg'

export interface Owner {
  /** Of the database, with this login. */
  readonly url: string
  /** Once the database is gone. */
  drop(): Promise<void>
}

/** `serverUrl` is that of a superuser, and `url` of an empty database. */
export async function ownerOf(url: string, serverUrl: string): Promise<Owner> {
  const role = `dartwing_owner_${randomUUID().slice(0, 8)}`
  const { pathname } = new URL(url)
  await asSuperuser(serverUrl, [
    `create role "${role}" login password 'owner'`,
    // What the administrator does whose login may create roles.
    `do $$ begin create role dartwing_tenant nologin; exception when duplicate_object or unique_violation then null; end $$`,
    `grant dartwing_tenant to "${role}"`,
    `alter database "${pathname.slice(1)}" owner to "${role}"`,
  ])
  const own = new URL(url)
  own.username = role
  own.password = 'owner'
  return { url: own.href, drop: () => asSuperuser(serverUrl, [`drop role "${role}"`]) }
}

async function asSuperuser(serverUrl: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(serverUrl)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
