// Exports: what a spreadsheet would run is text, a cut is told, and nobody reads more than a list would show them.
import { csvLine } from '@millrace/admin/contract'
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { csvResponse } from '#src/server/csv'
import { setup } from './support/setup.ts'

const queues = defineQueues({ mail: {} })
const mail = defineJob({ type: 'MAIL', queue: queues.mail, payload: z.record(z.string(), z.string()) })

/** A reader of its own, so that the writer is not checked by itself. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === '\n') rows.push([])
  }
  return rows.slice(0, -1)
}

test.each([
  ['=HYPERLINK("http://evil.example")', `"'=HYPERLINK(""http://evil.example"")"`],
  ['+1', `'+1`],
  ['-2+3|cmd', `'-2+3|cmd`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['\t=1', `'\t=1`],
  ['\r=1', `"'\n=1"`],
  ['\n=1', `"'\n=1"`],
  ['  =1', `'  =1`],
  ['\u001b=1', `' =1`],
  ['＝1', `'＝1`],
  ['a\u001b[2Jb\u0000\u202e', 'a [2Jb  '],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\r\nb', '"a\nb"'],
  [-5, '-5'],
  [null, ''],
  [{ a: '=1' }, '"{""a"":""=1""}"'],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
])('%j is the cell %j', (value, cell) => {
  expect(csvLine([value])).toBe(`${cell}\n`)
})

test('jobs, dead letters and the audit log are exported with every row of the query and hostile texts as text', async () => {
  await using t = await setup([mail])
  const token = await t.token('operator')
  const hostile = '=cmd|" /C calc"!A0\n"x",y'
  const { id } = await t.millrace.enqueue(mail, { text: hostile }, { tenant: hostile, createdBy: '@ann' })
  await t.millrace.cancel(id, { by: '+bob', reason: hostile })
  const jobs = await t.call('GET /admin/api/jobs.csv?q=type:MAIL', { token })
  expect(jobs.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  expect(jobs.headers.get('content-disposition')).toBe('attachment; filename="jobs.csv"')
  const [titles = [], row = [], ...others] = rowsOf(jobs.body)
  expect(others).toEqual([])
  const cellOf = (title: string) => row[titles.indexOf(title)]
  expect([cellOf('id'), cellOf('tenant'), cellOf('reason')]).toEqual([id, `'${hostile}`, `'${hostile}`])
  expect(cellOf('createdBy')).toBe("'@ann")
  expect(JSON.parse(cellOf('payload') ?? '')).toEqual({ text: hostile })
  const audit = rowsOf((await t.call('GET /admin/api/audit.csv?action=job.cancel', { token })).body)
  expect(audit).toMatchObject([expect.arrayContaining(['by']), expect.arrayContaining(["'+bob", id])])
  expect(rowsOf((await t.call('GET /admin/api/dead-letters.csv', { token })).body)).toHaveLength(1)
  const wrong = await t.call('GET /admin/api/jobs.csv?q=statu:dead', { token })
  expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_query' } })
})

test('viewers get no payload, may not look for one, and callers of a tenant get its rows alone', async () => {
  await using t = await setup([mail])
  await t.millrace.enqueue(mail, { text: 'canary-payload' }, { tenant: 'acme' })
  await t.millrace.enqueue(mail, {}, { tenant: 'bolt' })
  const viewer = await t.token('viewer', ['acme'])
  const { body } = await t.call('GET /admin/api/jobs.csv', { token: viewer })
  expect(rowsOf(body)).toHaveLength(2)
  expect(body).not.toMatch(/canary-payload|bolt/)
  const looked = await t.call('GET /admin/api/jobs.csv?q=payload.text:a', { token: viewer })
  expect(looked.status).toBe(403)
  expect((await t.call('GET /admin/api/jobs.csv?tenant=bolt', { token: viewer })).status).toBe(404)
})

test('more rows than a page are read one page after the other, and the last line of a cut export says how to go on', async () => {
  const asked: [string | undefined, number][] = []
  const response = await csvResponse({
    ...{ kind: 'audit', goOn: 'before', limit: 2_500 },
    async page(next, limit) {
      asked.push([next, limit])
      return { rows: Array.from({ length: limit }, (_, id) => ({ id })), next: `${asked.length}` }
    },
  })
  const rows = rowsOf(await response.text())
  expect(asked).toEqual([
    [undefined, 1_000],
    ['1', 1_000],
    ['2', 500],
  ])
  expect(rows).toHaveLength(1 + 2_500 + 1)
  expect(rows.at(-1)?.[0]).toMatch(/^Cut after 2500 rows: there may be more. Go on with before=3, or .* 100000\)\.$/)
})

test('an export that takes too long is cut, and one that fails midway is no whole answer', async () => {
  let now = 0
  const page = async () => {
    now += 25_000
    return { rows: [], next: 'x' }
  }
  const slow = await csvResponse({ kind: 'jobs', goOn: 'after', limit: undefined, page }, () => now)
  expect(rowsOf(await slow.text()).at(-1)?.[0]).toMatch(/^Cut after 0 rows/)
  let count = 0
  const broken = await csvResponse({
    ...{ kind: 'jobs', goOn: 'after', limit: undefined },
    async page() {
      if (count++ > 0) throw new Error('the database is gone')
      return { rows: [{ id: 1 }], next: 'x' }
    },
  })
  await expect(broken.text()).rejects.toThrow()
})
