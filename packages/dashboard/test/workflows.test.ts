// Workflows: resume one from its failed step, stop a rollback, and read a large one.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'

async function workflowIn(page: Page, url: string, status: string): Promise<string> {
  const answer = await page.request.get(`${url}/admin/api/workflows?status=${encodeURIComponent(status)}&limit=1`)
  const { workflows } = (await answer.json()) as { workflows: { id: string }[] }
  return workflows[0]?.id ?? ''
}

test('an operator resumes a workflow from its failed step with another payload, and what was done is kept', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/workflows?status=failed', { system, as: 'operator' })
  const { page } = opened
  const table = page.getByRole('table', { name: 'Workflows, newest first' })
  const row = table.getByRole('row').filter({ hasText: 'catalogue.import' })
  await row.first().getByRole('link').first().click()
  const verdict = page.getByRole('heading', { level: 1 })
  await verdict.filter({ hasText: 'has failed: step index failed' }).waitFor()
  await page.keyboard.press('r')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('12 jobs are not repeated').waitFor()
  const payload = dialog.getByLabel('Payload of index')
  await payload.fill('{"shop": ')
  await dialog.locator('.wrong').filter({ hasText: 'This is no JSON' }).waitFor()
  await payload.fill('{"shop": "copper-kettle", "products": 12}')
  await dialog.getByRole('button', { name: 'Resume with the edited payload' }).click()
  await verdict.filter({ hasText: 'is running, and waits for approval' }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const answer = await page.request.get(`${system.url}/admin/api/workflows/${id}`)
  const { steps } = (await answer.json()) as { steps: { name: string; status: string; jobs: number }[] }
  expect(steps.slice(0, 2)).toMatchObject([
    { name: 'products', status: 'completed', jobs: 12 },
    { name: 'index', status: 'completed', jobs: 1 },
  ])
})

test('an operator stops a rollback, and takes that back', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/workflows', { system, as: 'operator' })
  const { page } = opened
  await page.getByRole('heading', { level: 1 }).filter({ hasText: 'rolling back' }).waitFor()
  const id = await workflowIn(page, system.url, 'rolling back')
  await page.goto(`${system.url}/admin/workflows/${id}`)
  await page.getByText('the undo of capture has ended', { exact: false }).first().waitFor()
  await page.getByRole('button', { name: 'Stop the rollback and resume' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resume', exact: true }).click()
  const verdict = page.getByRole('heading', { level: 1 })
  await verdict.filter({ hasText: 'goes on as soon as the undo of capture has ended' }).waitFor()
  await page.getByRole('button', { name: 'Roll back after all' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Roll it back' }).click()
  await verdict.filter({ hasText: 'is rolling back' }).waitFor()
})

test('a workflow with hundreds of jobs is a node and a row, and a viewer may decide nothing', async () => {
  await using opened = await browse('/admin/workflows', { as: 'viewer', theme: 'dark' })
  const { page } = opened
  await page.getByRole('table').waitFor()
  await expectAccessible(page)
  const url = new URL(page.url()).origin
  const list = await page.request.get(`${url}/admin/api/workflows?name=catalogue.import&limit=50`)
  const { workflows } = (await list.json()) as { workflows: { id: string }[] }
  const sizes = await Promise.all(
    workflows.map(async ({ id }) => {
      const { steps } = (await (await page.request.get(`${url}/admin/api/workflows/${id}`)).json()) as {
        steps: { jobs: number }[]
      }
      return { id, jobs: steps[0]?.jobs ?? 0 }
    }),
  )
  const largest = sizes.sort((a, b) => b.jobs - a.jobs)[0]
  await page.goto(`${url}/admin/workflows/${largest?.id}`)
  const graph = page.getByRole('region', { name: 'Graph of the steps' })
  await graph.getByText(/^products × [\d,]+$/).waitFor()
  expect(await graph.getByRole('link').count()).toBe(4)
  await page
    .getByRole('rowheader', { name: /^products × / })
    .getByRole('link')
    .click()
  await page.getByText('it declares none: a rollback leaves it as it is').waitFor()
  await page.getByRole('img', { name: /How long the jobs of products took/ }).waitFor()
  await expectAccessible(page)
  expect(await page.getByRole('button', { name: /Resume|Cancel|Roll back/ }).count()).toBe(0)
})

test('on a phone the steps come before the graph', async () => {
  await using opened = await browse('/admin/workflows?status=failed', { width: 390 })
  const { page } = opened
  const url = new URL(page.url()).origin
  await page.goto(`${url}/admin/workflows/${await workflowIn(page, url, 'rolled back')}`)
  const steps = await page.getByRole('heading', { name: 'Steps and when they ran' }).boundingBox()
  const graph = await page.getByRole('heading', { name: 'Graph', exact: true }).boundingBox()
  expect(steps?.y).toBeLessThan(graph?.y ?? 0)
  const { scrollWidth, innerWidth } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    innerWidth: window.innerWidth,
  }))
  expect(scrollWidth).toBeLessThanOrEqual(innerWidth)
  await expectAccessible(page)
})
