// For whom a job acts: an active admin of its organization, as long as there is one.
import type { Queryable } from 'millrace'
import { query } from '../query.ts'

/** The login of the admin who has been one for longest; undefined: nobody is an active admin. Needs the organization's context. */
export async function getOrgAdminUser(tx: Queryable): Promise<string | undefined> {
  const [row] = await query<{ admin: string }>(
    tx,
    `select person.frappe_user as admin
     from dartwing.org_member as member
     join dartwing.person on person.id = member.person
     where member.role = 'Admin'
       and member.status = 'Active'
     order by member.since, member.person
     limit 1`,
  )
  return row?.admin
}

/** For this transaction: `modified_by` of every row that it inserts. */
export async function actAs(tx: Queryable, user: string): Promise<void> {
  await tx.query(`select set_config('millrace.acting_user', $1, true)`, [user])
}

/** What an update sets `modified_by` to. */
export const ACTING_USER = `coalesce(nullif(current_setting('millrace.acting_user', true), ''), 'system')`
