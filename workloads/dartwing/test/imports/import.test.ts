// Imports of contacts: every row is entered or refused with its line, whatever the file looks like.
import { Readable } from 'node:stream'
import { drain, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { type Dartwing, LARGE, setup } from '../support/dartwing.ts'

const SPLIT = 'dartwing_core.imports.split'
const ASKED_BY = 'ann@example.com'

async function upload(t: Dartwing, content: string | Buffer): Promise<string> {
  const file = `import-${Math.random().toString(36).slice(2)}.csv`
  await t.system.files.write(LARGE, file, Readable.from([Buffer.from(content)]))
  return t.write(LARGE, 'insert into dartwing.import (organization, file, asked_by) values ($1, $2, $3) returning id', [
    ...[LARGE, file, ASKED_BY],
  ])
}

async function imported(t: Dartwing, content: string | Buffer) {
  const id = await upload(t, content)
  const run = await runJob(t.handler(SPLIT), { organization: LARGE, import: id } as never, { millrace: t.millrace })
  await drain(t.millrace, t.workload.handlers)
  const [row] = await t.sql(
    'select status, problem, rows, batches, done, inserted, updated, refused from dartwing.import where id = $1',
    [id],
  )
  return { id, run, row }
}

const rowsOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `C-${from + i},Person ${from + i},person${from + i}@example.com`).join('\n')

test('all rows of a file are entered in batches, and the person who asked gets the counts', async () => {
  await using t = await setup()
  const { row } = await imported(t, `external_id,name,email\n${rowsOf(2_500)}\n`)
  expect(row).toMatchObject({
    status: 'completed',
    rows: 2_500,
    batches: 3,
    done: 3,
    inserted: 2_500,
    updated: 0,
    refused: 0,
  })
  expect(await t.sql('select count(*)::int as contacts, min(server_seq)::int as first from dartwing.contact')).toEqual([
    { contacts: 2_500, first: 1 },
  ])
  expect(t.sandbox.mailboxes.of(ASKED_BY)).toMatchObject([
    { text: expect.stringContaining('2500 contacts are new and 0 were updated.') },
  ])
})

test('what is imported again is updated', async () => {
  await using t = await setup()
  await imported(t, `external_id,name,email\n${rowsOf(3)}\n`)
  const { row } = await imported(t, `external_id,name,city\nC-1,Renamed,Oulu\nC-9,New,Turku\n`)
  expect(row).toMatchObject({ inserted: 1, updated: 1, refused: 0 })
  const [contact] = await t.sql(`select fields, modified_by from dartwing.contact where external_id = 'C-1'`)
  expect(contact).toEqual({
    fields: { name: 'Renamed', email: 'person1@example.com', city: 'Oulu' },
    modified_by: 'admin@org-2025-00001.example',
  })
})

test('a BOM, semicolons, Windows line ends and quoted line breaks are read', async () => {
  await using t = await setup()
  const { row, id } = await imported(
    t,
    '\ufeffexternal_id;name;note\r\nA;"Łucja ""Lu""";"first\r\nsecond; third"\r\nB;Ελένη;\r\n;missing;\r\n',
  )
  expect(row).toMatchObject({ status: 'completed', rows: 3, inserted: 2, refused: 1 })
  expect(await t.sql(`select fields from dartwing.contact where external_id = 'A'`)).toEqual([
    { fields: { name: 'Łucja "Lu"', note: 'first\r\nsecond; third' } },
  ])
  expect(await t.sql('select line, column_name, problem from dartwing.import_error where import = $1', [id])).toEqual([
    { line: 5, column_name: 'external_id', problem: 'The cell is empty. Fill it.' },
  ])
})

test('batches after the first begin at their own line', async () => {
  await using t = await setup()
  const { id } = await imported(
    t,
    `external_id,name,email\n${rowsOf(1_000)}\nC-1000,"Two\nlines",x@example.com\nC-1001,Bad,no-address\n`,
  )
  expect(await t.sql('select line, column_name from dartwing.import_error where import = $1', [id])).toEqual([
    { line: 1_004, column_name: 'email' },
  ])
})

test.each([
  ['no header that names the required columns', 'a,b\n1,2\n', 'Line 1 names no column "external_id" and no "name"'],
  ['bytes that are not UTF-8', Buffer.from('external_id,name\nA,J\xfcrgen\n', 'latin1'), 'not UTF-8: see about line 1'],
  ['nothing in it', '', 'The file is empty'],
  ['a quote that is never closed', 'external_id,name\nA,"never closed\n', 'close every quote'],
])('a file with %s is refused as a whole, with one sentence', async (_, content, problem) => {
  await using t = await setup()
  const { run, row } = await imported(t, content)
  expect(run.outcome).toBe('dead')
  expect(row).toMatchObject({ status: 'refused', problem: expect.stringContaining(problem) })
})

test('rows with too many cells, an endless cell, or the key of a later row are refused each', async () => {
  await using t = await setup()
  const { id, row } = await imported(t, `external_id,name\nA,One,more\nB,${'x'.repeat(10_001)}\nC,First\nC,Second\n`)
  expect(row).toMatchObject({ inserted: 1, refused: 3 })
  const errors = await t.sql<{ problem: string }>(
    'select line, problem from dartwing.import_error where import = $1 order by line',
    [id],
  )
  expect(errors.map(({ problem }) => problem.slice(0, 30))).toEqual([
    'The row has 3 cells, and the h',
    'The cell has 10001 characters.',
    'Line 5 has the same external_i',
  ])
})

test('with the limit set to reject, the import is refused and none of its batches is enqueued', async () => {
  await using t = await setup()
  await t.millrace.tenants.limit(LARGE, 'bulk', { jobs: 1, over: 'reject' }, { by: 'operator' })
  const { run, row } = await imported(t, `external_id,name,email\n${rowsOf(1_001)}\n`)
  expect(run.outcome).toBe('dead')
  expect(row).toMatchObject({ status: 'refused', batches: null })
  expect(await t.millrace.jobs({ type: 'dartwing_core.imports.process_batch' } as never)).toEqual([])
})
