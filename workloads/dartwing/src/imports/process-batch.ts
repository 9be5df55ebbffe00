// `dartwing_core.imports.process_batch`: enters the rows of one batch, exactly once. Bad rows are noted, not failures.
import { cancel, type Implementation, implement, type JobContext, type PayloadOutput, type Queryable } from 'millrace'
import { processBatch } from '../contracts/bulk.ts'
import { sendEmail } from '../contracts/default.ts'
import { emailInsert } from '../email/email-store.ts'
import { orgContext } from '../organization/org-context.ts'
import { stampRows } from '../sync/head-store.ts'
import { serverStamp } from '../sync/stamp.ts'
import type { DartwingSystem } from '../system.ts'
import { importRows } from '../telemetry/metrics.ts'
import { type Contact, readRow } from './columns.ts'
import { csvRows } from './csv.ts'
import {
  batchBegin,
  batchEnd,
  contactsUpsert,
  errorsInsert,
  type Import,
  type ImportCounts,
  importGet,
  type LineRefusal,
} from './import-store.ts'

type Payload = PayloadOutput<typeof processBatch>

export const processBatchHandler = (system: DartwingSystem): Implementation =>
  implement(processBatch, async (payload, ctx) => {
    const found = await orgContext(ctx, (tx) => importGet(tx, ctx, payload.import))
    if (found.status === 'cancelled') return cancel(`Import ${payload.import} was cancelled.`)
    const rows = await read(system, { payload, found }, ctx)
    const counts = await orgContext(ctx, (tx) => enter(system, { tx, payload, rows, ctx }), { complete: true })
    for (const [result, count] of Object.entries(counts)) importRows.inc({ result }, count)
    return counts
  })

interface Rows {
  readonly contacts: readonly Contact[]
  readonly refusals: readonly LineRefusal[]
}

async function read(
  { files }: DartwingSystem,
  { payload, found }: { payload: Payload; found: Import },
  { signal }: JobContext,
): Promise<Rows> {
  const { organization, from, to, firstLine } = payload
  const { header, delimiter } = found
  if (header === null || delimiter === null) throw new Error(`Import ${payload.import} was not split.`)
  const [contacts, refusals] = [new Map<string, { contact: Contact; line: number }>(), [] as LineRefusal[]]
  let line = firstLine
  for await (const row of csvRows(files.read(organization, found.file, { from, to }), { delimiter })) {
    signal.throwIfAborted()
    const answer = readRow(header, row.cells)
    if ('problem' in answer) refusals.push({ ...answer, line })
    else {
      const earlier = contacts.get(answer.externalId)
      if (earlier !== undefined)
        refusals.push({
          line: earlier.line,
          column: 'external_id',
          problem: `Line ${line} has the same external_id, and counts instead.`,
        })
      contacts.set(answer.externalId, { contact: answer, line })
    }
    line = firstLine + row.line
  }
  return { contacts: [...contacts.values()].map(({ contact }) => contact), refusals }
}

async function enter(
  system: DartwingSystem,
  { tx, payload, rows, ctx }: { tx: Queryable; payload: Payload; rows: Rows; ctx: JobContext },
): Promise<ImportCounts> {
  const { organization, import: id, batch } = payload
  const { contacts, refusals } = rows
  if (!(await batchBegin(tx, organization, { id, batch }))) return { inserted: 0, updated: 0, refused: 0 }
  const { inserted, names } = await contactsUpsert(tx, organization, { contacts, stamp: serverStamp() })
  await errorsInsert(tx, organization, id, refusals)
  const counts = { inserted, updated: names.length - inserted, refused: refusals.length }
  const sums = await batchEnd(tx, id, counts)
  if (sums !== undefined) await tell(system, { tx, organization, id, sums, ctx })
  // Locked last: until the commit, other changes of this organization wait for it.
  await stampRows(tx, organization, { Contact: names })
  return counts
}

/** The person who asked gets the counts, in the same transaction as the last batch. */
async function tell(
  { millrace }: DartwingSystem,
  {
    tx,
    organization,
    id,
    sums,
    ctx,
  }: { tx: Queryable; organization: string; id: string; sums: ImportCounts & { askedBy: string }; ctx: JobContext },
): Promise<void> {
  const { inserted, updated, refused, askedBy: to } = sums
  const refusals = refused === 0 ? '' : ` ${refused} rows were refused; the import lists each with its line.`
  const email = await emailInsert(tx, organization, {
    ...{ to, subject: `Import ${id} is complete` },
    body: `${inserted} contacts are new and ${updated} were updated.${refusals}`,
  })
  await millrace.enqueue(
    sendEmail,
    { organization, email },
    { tx, ...(ctx.createdBy !== null && { createdBy: ctx.createdBy }) },
  )
}
