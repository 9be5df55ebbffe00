import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { WorkflowDetails } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from './desk.ts'

const ORDERS = 6
const inputOf = ({ input }: WorkflowDetails) => input as { orderId: string; name: string }

test('a page is kept as it was, and of one whose upload failed nothing is left', async () => {
  await using t = await setup({ maxOrders: ORDERS, keepEveryOrders: 1, fullEvery: 3 })
  let ended = 0
  const allEnded = new Promise<void>((resolve) => {
    const count = () => void (++ended === ORDERS && resolve())
    t.millrace.events.on('workflow_completed', count)
    t.millrace.events.on('workflow_rolled_back', count)
  })
  await t.millrace.work({ handlers: t.desk.handlers })
  await allEnded

  const workflows = await t.millrace.workflows.list()
  const details = await Promise.all(
    workflows.map(async ({ id }) => (await t.millrace.workflows.get(id)) as WorkflowDetails),
  )
  const kept = details.filter(({ status }) => status === 'completed')
  const failed = details.filter(({ status }) => status === 'rolled back')
  expect([kept.length, failed.length]).toEqual([4, 2])

  expect(await readdir(join(t.folder, 'work'))).toEqual([])
  const names = kept.map((each) => `${inputOf(each).name}.html.gz`)
  expect((await readdir(join(t.folder, 'kept'))).sort()).toEqual(names.sort())
  for (const each of kept) {
    const { orderId, name } = inputOf(each)
    const page = await (await fetch(`${t.desk.receiver.pagesUrl}/${orderId}`)).text()
    expect(page).toContain(`Order ${orderId}`)
    expect(gunzipSync(await readFile(join(t.folder, 'kept', `${name}.html.gz`))).toString()).toBe(page)
  }
  for (const each of failed) {
    expect(each.reason).toMatch(/^step "upload" failed: unrecoverable: The folder is full: it does not take order-\d+/)
    expect(each.steps.map(({ name, status, undo }) => [name, status, undo])).toEqual([
      ['capture', 'completed', 'done'],
      ['compress', 'completed', 'done'],
      ['upload', 'failed', 'none'],
      ['tidy', 'cancelled', 'none'],
    ])
  }
})

test('an uploaded page is taken back when its workflow is cancelled', async () => {
  await using t = await setup({ maxOrders: 1, keepEveryOrders: 1, fullEvery: 0 })
  const isPage = ({ job }: { job: { type: string } }) => job.type === 'page.upload'
  const [remove] = t.desk.handlers.filter(({ contract }) => contract.type === 'page.remove')
  const uploaded = t.millrace.events.next('job_completed', isPage)
  const worker = await t.millrace.work({ handlers: t.desk.handlers.filter((each) => each !== remove) })
  await uploaded
  await worker.stop()
  expect(await readdir(join(t.folder, 'kept'))).toHaveLength(1)

  const [workflow] = await t.millrace.workflows.list()
  expect(await t.millrace.workflows.cancel(workflow?.id ?? '', { by: 'ann' })).toMatchObject({ status: 'done' })
  await t.millrace.work({ handlers: t.desk.handlers })
  expect(await t.millrace.workflows.result(workflow?.id ?? '')).toMatchObject({ status: 'rolled back' })
  expect(await readdir(join(t.folder, 'kept'))).toEqual([])
  expect(await readdir(join(t.folder, 'work'))).toEqual([])
})
