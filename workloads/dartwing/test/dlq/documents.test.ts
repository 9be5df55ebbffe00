// Dead letters as documents: all ten fields, and decisions by status.
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { type Ask, ask } from '../support/ask.ts'
import { type Dartwing, LARGE, SMALL, setup } from '../support/dartwing.ts'

async function letters(t: Dartwing, path: string, options: Ask = {}) {
  const response = await ask(t, `/dartwing/api/dlq${path}`, options)
  return { status: response.status, body: (await response.json()) as { data: Record<string, unknown>[] } }
}

/** A fax that the organization does not have is dead at once. */
async function die(t: Dartwing, organization = LARGE): Promise<void> {
  const run = await runJob(t.handler('dartwing_fax.send_fax'), { organization, fax: '999' } as never, {
    millrace: t.millrace,
  })
  expect(run.outcome).toBe('dead')
}

test('a dead job is a document with all fields of the doctype', async () => {
  await using t = await setup()
  await die(t)
  const { body } = await letters(t, '')
  expect(body.data).toEqual([
    {
      doctype: 'Background Job DLQ',
      name: expect.stringMatching(/^\d+$/),
      job_id: expect.stringMatching(/^\d+$/),
      job_method: 'dartwing_fax.send_fax',
      organization: LARGE,
      queue: 'critical',
      failure_reason: `Permission denied: ${LARGE} has no fax 999. Name one of its own.`,
      job_data: { organization: LARGE, fax: '999' },
      failed_at: expect.stringMatching(/^\d{4}-/),
      retry_count: 0,
      status: 'Pending',
      resolution_notes: null,
    },
  ])
})

test('a letter is resolved, ignored or retried by its status, with notes and their author', async () => {
  await using t = await setup()
  await die(t)
  await die(t, SMALL)
  const { body: list } = await letters(t, '?status=Pending')
  const [second, first] = list.data.map(({ name }) => name as string)
  const resolved = await letters(t, `/${first}`, {
    method: 'PATCH',
    body: { status: 'Resolved', resolution_notes: 'A typing error.' },
  })
  expect(resolved).toMatchObject({
    status: 200,
    body: { status: 'Resolved', resolution_notes: expect.stringMatching(/test-.*: A typing error\./) },
  })
  expect(await letters(t, `/${first}`, { method: 'PATCH', body: { status: 'Pending' } })).toMatchObject({ status: 409 })
  expect(await letters(t, `/${second}`, { method: 'PATCH', body: { status: 'Retried' } })).toMatchObject({
    status: 200,
    body: { status: 'Retried' },
  })
  expect(await t.millrace.jobs({ status: 'pending' })).toMatchObject([{ type: 'dartwing_fax.send_fax', tenant: SMALL }])
})

test('an unknown status is refused, and so is the letter of another organization', async () => {
  await using t = await setup()
  await die(t)
  const { body } = await letters(t, '')
  const name = body.data[0]?.name
  expect((await letters(t, `/${name}`, { method: 'PATCH', body: { status: 'Gone' } })).status).toBeGreaterThanOrEqual(
    400,
  )
  expect(
    await letters(t, `/${name}`, { method: 'PATCH', body: { status: 'Ignored' }, tenants: [SMALL] }),
  ).toMatchObject({ status: 404 })
  expect((await letters(t, '', { tenants: [SMALL] })).body.data).toEqual([])
})
