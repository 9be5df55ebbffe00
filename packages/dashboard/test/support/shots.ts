// What `npm run screenshots` takes pictures of. A screen that is about one thing looks up which.
import type { Page } from 'playwright-core'

export interface Shot {
  readonly name: string
  /** As in a link. A function finds a thing to show: it may ask the API as the browser's admin. */
  readonly path: string | ((page: Page, url: string) => Promise<string>)
  /** Only what the window shows: below it, rows that are not seen are not there. */
  readonly isWindow?: boolean
  /** What to do before the picture, such as opening a menu. */
  prepare?(page: Page): Promise<void>
}

const jobWith = (query: string) => async (page: Page, url: string) => {
  const answer = await page.request.get(`${url}/admin/api/jobs?q=${encodeURIComponent(query)}&limit=1`)
  const { jobs } = (await answer.json()) as { jobs: { id: string }[] }
  return `/admin/jobs/${jobs[0]?.id}`
}

const workflowIn =
  (status: string, tenant = '') =>
  async (page: Page, url: string) => {
    const answer = await page.request.get(
      `${url}/admin/api/workflows?status=${encodeURIComponent(status)}${tenant && `&tenant=${tenant}`}&limit=1`,
    )
    const { workflows } = (await answer.json()) as { workflows: { id: string }[] }
    return `/admin/workflows/${workflows[0]?.id}`
  }
const graphShown = async (page: Page) => {
  await page.getByRole('region', { name: 'Graph of the steps' }).waitFor()
}

export const shots: readonly Shot[] = [
  { name: 'overview', path: '/admin/' },
  { name: 'jobs', path: '/admin/jobs', isWindow: true },
  {
    name: 'jobs-dead',
    path: '/admin/jobs?q=status:dead',
    isWindow: true,
    async prepare(page) {
      if ((page.viewportSize()?.width ?? 0) < 600) return
      await page.locator('.jobs-row').nth(2).locator('.c-created').click()
      await page.getByRole('complementary').getByText('Attempt').waitFor()
    },
  },
  { name: 'job-waiting', path: jobWith('status:pending') },
  { name: 'job-dead', path: jobWith('status:dead') },
  { name: 'failures', path: '/admin/failures' },
  {
    name: 'failure',
    isWindow: true,
    async path(page, url) {
      const answer = await page.request.get(`${url}/admin/api/dead-letters/groups?limit=1`)
      const { groups } = (await answer.json()) as { groups: { fingerprint: string; type: string }[] }
      return `/admin/failures/${groups[0]?.fingerprint}?type=${groups[0]?.type}`
    },
  },
  { name: 'queues', path: '/admin/queues' },
  { name: 'queue', path: '/admin/queues/default' },
  { name: 'tenants', path: '/admin/tenants?queue=default' },
  { name: 'tenant', path: '/admin/tenants/thistle-and-twine' },
  {
    name: 'workflows',
    path: '/admin/workflows',
    async prepare(page) {
      await page.getByRole('table').waitFor()
    },
  },
  { name: 'workflow-failed', path: workflowIn('failed'), prepare: graphShown },
  { name: 'workflow-rolling-back', path: workflowIn('rolling back'), prepare: graphShown },
  { name: 'workflow-rolled-back', path: workflowIn('rolled back'), prepare: graphShown },
  { name: 'workflow-large', path: workflowIn('running', 'copper-kettle'), prepare: graphShown },
  { name: 'schedules', path: '/admin/schedules' },
  { name: 'workers', path: '/admin/workers' },
  { name: 'budgets', path: '/admin/budgets' },
  { name: 'alerts', path: '/admin/alerts' },
  { name: 'audit', path: '/admin/audit' },
]
