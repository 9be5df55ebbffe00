import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export interface AlertsSearch {
  /** Which part is shown. Default: what fires. */
  readonly show?: 'rules' | 'escalations'
  /** Of the escalations. Default: open. */
  readonly state?: 'undelivered' | 'overdue' | 'resolved' | 'any'
  readonly channel?: string
  readonly before?: string
}

const SHOWS = ['rules', 'escalations']
const STATES = ['undelivered', 'overdue', 'resolved', 'any']
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const alertsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/alerts',
  validateSearch: ({ show, state, channel, before }: Record<string, unknown>): AlertsSearch => ({
    ...(SHOWS.includes(String(show)) && { show: show as 'rules' }),
    ...(STATES.includes(String(state)) && { state: state as 'any' }),
    ...(isText(channel) && { channel }),
    ...(isText(before) && /^\d+$/.test(before) && { before }),
  }),
  component: lazyRouteComponent(() => import('./alerts-screen.tsx'), 'AlertsScreen'),
})
