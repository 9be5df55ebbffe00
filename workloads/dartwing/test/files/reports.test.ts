// Reports and exports, made in processes of their own, and read back with other programs.
import { createHash } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runJob } from 'millrace/testing'
import { extractText, getDocumentProxy } from 'unpdf'
import { expect, test, vi } from 'vitest'
import yauzl from 'yauzl'
import { isGood, signedLink } from '#src/files/signed-link'
import { ask } from '../support/ask.ts'
import { type Dartwing, LARGE, SMALL, setup } from '../support/dartwing.ts'

const NAMES = ['Łucja Żak', 'Ελένη Παπά', 'Ольга Іванова', '=HYPERLINK("http://evil.example")']

async function withFiles(): Promise<Dartwing> {
  const folder = mkdtempSync(join(tmpdir(), 'dartwing-files-'))
  // The isolated process reads it, too.
  vi.stubEnv('DARTWING_FILES', folder)
  const t = await setup({ env: { DARTWING_FILES: folder } })
  for (const [i, name] of NAMES.entries())
    await t.write(
      LARGE,
      'insert into dartwing.contact (organization, name, fields) values ($1, $2, $3) returning name',
      [LARGE, `C-${i}`, JSON.stringify({ name, city: 'Oulu' })],
    )
  await t.write(
    SMALL,
    `insert into dartwing.contact (organization, name, fields) values ($1, 'C-9', '{"name":"Somebody else"}') returning name`,
    [SMALL],
  )
  return t
}

async function made(
  t: Dartwing,
  format: 'pdf' | 'csv',
): Promise<{ result: { file: string; pages: number; sha256: string }; content: Buffer }> {
  const report = await t.write(
    LARGE,
    `insert into dartwing.report (organization, kind, format, asked_by) values ($1, 'contacts', $2, 'ann@example.com') returning id`,
    [LARGE, format],
  )
  const run = await runJob(t.handler('dartwing_core.reports.generate'), { organization: LARGE, report } as never, {
    millrace: t.millrace,
  })
  expect(run, JSON.stringify(run)).toMatchObject({ outcome: 'completed' })
  const { result } = run as unknown as { result: { file: string; pages: number; sha256: string } }
  return { result, content: await readFile(t.system.files.pathOf(LARGE, `report-${report}.${format}`)) }
}

const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex')

test('a PDF report reads back with the letters of all scripts', async () => {
  await using t = await withFiles()
  const { result, content } = await made(t, 'pdf')
  expect(result).toMatchObject({ pages: 1, sha256: sha256(content) })
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(content)), { mergePages: true })
  for (const name of NAMES.slice(0, 3)) expect(text).toContain(name)
  expect(text).not.toContain('Somebody else')
})

test('a CSV report reads back equal, and formulas in it are inert', async () => {
  await using t = await withFiles()
  const { content } = await made(t, 'csv')
  const lines = content.toString('utf8').trimEnd().split('\n')
  expect(lines[0]).toBe('\ufeffName,E-mail,Phone,City')
  expect(lines).toContain('Łucja Żak,,,Oulu')
  expect(lines).toContain(`"'=HYPERLINK(""http://evil.example"")",,,Oulu`)
  expect(lines.length).toBe(5)
})

test('an export has all rows of the organization, sums that verify, and nothing that is sealed', async () => {
  await using t = await withFiles()
  const id = await t.write(
    LARGE,
    `insert into dartwing.export (organization, asked_by) values ($1, 'ann@example.com') returning id`,
    [LARGE],
  )
  const run = await runJob(
    t.handler('dartwing_core.exports.full_export'),
    { organization: LARGE, export: id } as never,
    { millrace: t.millrace },
  )
  expect(run, JSON.stringify(run)).toMatchObject({ outcome: 'completed', result: { documents: 1 } })
  const entries = await unzipped(t.system.files.pathOf(LARGE, `export-${id}.zip`))
  const manifest = JSON.parse(entries.get('manifest.json')?.toString() ?? '') as {
    tables: Record<string, { rows: number; sha256: string }>
    documents: { id: string; sha256: string }[]
  }
  expect(manifest.tables).toMatchObject({ task: { rows: 20 }, contact: { rows: 4 }, webhook_endpoint: { rows: 1 } })
  for (const [table, { rows, sha256: sum }] of Object.entries(manifest.tables)) {
    const content = entries.get(`${table}.ndjson`) as Buffer
    expect(sha256(content), table).toBe(sum)
    expect(content.toString().split('\n').length - 1, table).toBe(rows)
  }
  for (const document of manifest.documents)
    expect(sha256(entries.get(`documents/${document.id}`) as Buffer)).toBe(document.sha256)
  const all = [...entries.values()].map(String).join()
  expect(all).not.toContain('sealed_')
  expect(all).not.toContain(SMALL)
  const tables = await t.sql<{ table_name: string }>(
    `select table_name from information_schema.columns where table_schema = 'dartwing' and column_name = 'organization' order by 1`,
  )
  expect(Object.keys(manifest.tables).sort(), 'a new table belongs into the export').toEqual(
    tables.map(({ table_name: name }) => name),
  )
})

test('a report is asked for over HTTP, and its file is downloaded by a link that ends', async () => {
  await using t = await withFiles()
  const asked = await ask(t, '/dartwing/api/reports', {
    method: 'POST',
    body: { organization: LARGE, kind: 'contacts', format: 'csv' },
  })
  expect(await asked.json()).toMatchObject({ id: expect.any(String), job: expect.any(String) })
  const { result } = await made(t, 'csv')
  expect((await ask(t, `/dartwing/api/files/${LARGE}/${result.file}`, { tenants: [SMALL] })).status).toBe(403)
  const { path } = (await (await ask(t, `/dartwing/api/files/${LARGE}/${result.file}`)).json()) as { path: string }
  const download = await ask(t, path)
  expect([download.status, sha256(Buffer.from(await download.arrayBuffer()))]).toEqual([200, result.sha256])
  expect((await ask(t, path.replace(LARGE, SMALL))).status).toBe(403)
})

test('a link is dead after a quarter of an hour', () => {
  const linked = { organization: LARGE, file: '1' }
  const { path } = signedLink('a secret', linked, 0)
  const query = new URL(path, 'http://localhost').searchParams
  expect([isGood('a secret', linked, query, 899_999), isGood('a secret', linked, query, 900_000)]).toEqual([
    true,
    false,
  ])
  expect(isGood('another secret', linked, query, 1)).toBe(false)
})

async function unzipped(path: string): Promise<Map<string, Buffer>> {
  const zip = (await promisify(
    yauzl.open as never as (
      path: string,
      options: object,
      done: (error: Error | null, zip: yauzl.ZipFile) => void,
    ) => void,
  )(path, { lazyEntries: true, autoClose: true })) as yauzl.ZipFile
  const entries = new Map<string, Buffer>()
  return new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', () => resolve(entries))
    zip.on('entry', (entry: yauzl.Entry) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error)
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          entries.set(entry.fileName, Buffer.concat(chunks))
          zip.readEntry()
        })
      })
    })
    zip.readEntry()
  })
}
