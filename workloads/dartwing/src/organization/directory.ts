// The directory: which organizations there are, and whether they may have work done.
import type { Millrace, Queryable } from 'millrace'
import { query } from '../query.ts'

export interface Organization {
  readonly name: string
  readonly title: string
  readonly status: 'Active' | 'Suspended'
}

export class OrganizationUnknown extends Error {
  override readonly name = 'OrganizationUnknown'
  readonly organization: string

  constructor(organization: string) {
    super(
      `There is no organization ${JSON.stringify(organization)}. Expected the name of one in the directory, such as ORG-2025-00001.`,
    )
    this.organization = organization
  }
}

export class OrganizationSuspended extends Error {
  override readonly name = 'OrganizationSuspended'
  readonly organization: string

  constructor(organization: string) {
    super(`Organization ${organization} is suspended, so nothing is enqueued for it. Resume it first.`)
    this.organization = organization
  }
}

/** `tx`: a transaction under this organization, which sees its own row. */
export async function demandActive(millrace: Millrace, organization: string, tx?: Queryable): Promise<void> {
  const find = (db: Queryable) => organizationGet(db, organization)
  const found = tx === undefined ? await millrace.tenantDb(organization, find) : await find(tx)
  if (found === undefined) throw new OrganizationUnknown(organization)
  if (found.status === 'Suspended') throw new OrganizationSuspended(organization)
}

export async function organizationGet(db: Queryable, name: string): Promise<Organization | undefined> {
  const [row] = await query<Organization>(db, 'select name, title, status from dartwing.organization where name = $1', [
    name,
  ])
  return row
}

/** All of them, by name: for the login only. */
export const organizationList = (db: Queryable): Promise<Organization[]> =>
  query(db, 'select name, title, status from dartwing.organization order by name')

export async function organizationSetStatus(
  tx: Queryable,
  name: string,
  status: Organization['status'],
): Promise<void> {
  await tx.query('update dartwing.organization set status = $2 where name = $1', [name, status])
}

/** For the login only, as is adding people: row security binds everybody else. */
export async function organizationAdd(tx: Queryable, { name, title }: { name: string; title: string }): Promise<void> {
  await tx.query('insert into dartwing.organization (name, title) values ($1, $2)', [name, title])
}

export interface NewMember {
  readonly organization: string
  readonly fullName: string
  /** An e-mail address. */
  readonly login: string
  readonly role: 'Admin' | 'Member'
}

/** In a transaction, because it takes on the organization until its end: the policy of members binds the login, too. */
export async function memberAdd(tx: Queryable, { organization, fullName, login, role }: NewMember): Promise<string> {
  await tx.query(`select set_config('millrace.tenant', $1, true)`, [organization])
  const [row] = await query<{ id: string }>(
    tx,
    `insert into dartwing.person (full_name, frappe_user)
     values ($1, $2)
     on conflict (frappe_user) do update set full_name = excluded.full_name
     returning id::text`,
    [fullName, login],
  )
  const person = (row as { id: string }).id
  await tx.query('insert into dartwing.org_member (organization, person, role) values ($1, $2, $3)', [
    organization,
    person,
    role,
  ])
  return person
}
