// `dartwing_core.crud.update_documents`: sets fields of many records, in the context of their organization.
import { type Implementation, implement, type Queryable } from 'millrace'
import { updateDocuments } from '../contracts/default.ts'
import { ACTING_USER } from '../organization/acting-admin.ts'
import { orgContext } from '../organization/org-context.ts'
import { query } from '../query.ts'
import { stampRows } from '../sync/head-store.ts'
import { serverStamp } from '../sync/stamp.ts'

type Change = Readonly<Record<string, string | number | boolean | null>>

export const updateDocumentsHandler = (): Implementation =>
  implement(updateDocuments, ({ doctype, names, change }, ctx) =>
    orgContext(
      ctx,
      async (tx) => {
        const updated = await UPDATES[doctype](tx, names, change)
        await stampRows(tx, ctx.tenant ?? '', { [doctype]: updated })
        return { updated: updated.length, missing: names.filter((name) => !updated.includes(name)) }
      },
      { complete: true },
    ),
  )

const UPDATES = { Task: tasksUpdate, Contact: contactsUpdate }

async function tasksUpdate(tx: Queryable, names: readonly string[], change: Change): Promise<string[]> {
  const rows = await query<{ name: string }>(
    tx,
    `update dartwing.task
     set fields = fields || $2::jsonb, clocks = clocks || $3::jsonb, modified_at = now(), modified_by = ${ACTING_USER}
     where name = any($1) and not deleted
     returning name`,
    [names, JSON.stringify(change), JSON.stringify(stamps(change))],
  )
  return rows.map(({ name }) => name)
}

async function contactsUpdate(tx: Queryable, names: readonly string[], change: Change): Promise<string[]> {
  const rows = await query<{ name: string }>(
    tx,
    `update dartwing.contact
     set fields = fields || $2::jsonb, clocks = clocks || $3::jsonb, modified_at = now(), modified_by = ${ACTING_USER}
     where name = any($1) and not deleted
     returning name`,
    [names, JSON.stringify(change), JSON.stringify(stamps(change))],
  )
  return rows.map(({ name }) => name)
}

/** As if a device had set these fields now. */
function stamps(change: Change): Record<string, string> {
  const stamp = serverStamp()
  return Object.fromEntries(Object.keys(change).map((field) => [field, stamp]))
}
