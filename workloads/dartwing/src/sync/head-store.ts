// The sequence of an organization's changes, by which devices ask for what is new.
import type { Queryable } from 'millrace'
import { query } from '../query.ts'

/** Which rows have changed, by kind. */
export type Changed = Readonly<Partial<Record<'Task' | 'Contact', readonly string[]>>>

/** Call it last: it locks the counter until the commit, so the order of the numbers is that of the commits. Returns the number. */
export async function stampRows(
  tx: Queryable,
  organization: string,
  { Task = [], Contact = [] }: Changed,
): Promise<number> {
  const [head] = await query<{ seq: number }>(
    tx,
    `insert into dartwing.sync_head as head (organization, server_seq)
     values ($1, 1)
     on conflict (organization) do update set server_seq = head.server_seq + 1
     returning server_seq::float8 as seq`,
    [organization],
  )
  const seq = head?.seq ?? 0
  if (Task.length > 0) await tx.query('update dartwing.task set server_seq = $2 where name = any($1)', [Task, seq])
  if (Contact.length > 0)
    await tx.query('update dartwing.contact set server_seq = $2 where name = any($1)', [Contact, seq])
  return seq
}
