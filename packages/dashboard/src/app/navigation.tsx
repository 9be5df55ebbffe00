// The sections on the left; on a phone a menu. A section that the caller may not see is not there.
import { Link } from '@tanstack/react-router'
import { basePath } from '../data/base.ts'
import { ask } from '../data/queries.ts'
import { useMay, useSession } from '../data/session.tsx'
import { useLive } from '../data/use-live.ts'
import { compactNumber } from '../ui/text/format.ts'
import { Logo } from './logo.tsx'
import { type ScreenLink, screens } from './screens.ts'

export function Navigation() {
  const may = useMay()
  const session = useSession()
  const counts = useCounts()
  const shown = screens.filter(({ needs }) => may(needs))
  const link = (screen: ScreenLink) => (
    <Link
      key={screen.path}
      to={screen.path}
      activeOptions={{ exact: screen.path === '/', includeSearch: false }}
      onClick={closeMenu}
    >
      {screen.title}
      <Count of={counts[screen.path]} />
    </Link>
  )
  return (
    <nav id="sections" aria-label="Main" popover="auto">
      <Link to="/" className="brand">
        <Logo />
        millrace
      </Link>
      {shown.filter(({ isSystem }) => !isSystem).map(link)}
      <hr />
      {shown.filter(({ isSystem }) => isSystem).map(link)}
      {session.pages.length > 0 && <hr />}
      {session.pages.map(({ path, title }) => (
        <a key={path} href={`${basePath}${path}`}>
          {title}
          <span className="count">page</span>
        </a>
      ))}
      <Who />
    </nav>
  )
}

const closeMenu = () => {
  const menu = document.getElementById('sections')
  if (menu?.matches(':popover-open')) menu.hidePopover()
}

interface ShownCount {
  readonly text: string
  readonly isBad?: boolean
}

function Count({ of }: { of: ShownCount | undefined }) {
  return of === undefined ? null : <span className={of.isBad ? 'count bad' : 'count'}>{of.text}</span>
}

/** What is worth knowing without going there. */
function useCounts(): Readonly<Record<string, ShownCount | undefined>> {
  const may = useMay()
  const stats = useLive(ask('queues', 'stats', {}), { topic: 'overview' }).data
  const letters = useLive(ask('deadLetters', 'counts', {}), { topic: 'dead-letters', every: 15_000 }).data
  const alerts = useLive(
    { ...ask('alerts', 'list', {}), enabled: may('alerts.list') },
    { topic: 'alerts', every: 15_000 },
  ).data
  const live = stats?.types.reduce((sum, { waiting, running, blocked }) => sum + waiting + running + blocked, 0)
  const firing = alerts?.alerts.filter(({ state }) => state === 'firing').length ?? 0
  const pending = letters?.counts.reduce((sum, each) => sum + each.pending, 0) ?? 0
  return {
    '/jobs': live === undefined || live === 0 ? undefined : { text: compactNumber(live) },
    '/failures': pending === 0 ? undefined : { text: compactNumber(pending), isBad: true },
    '/alerts': firing === 0 ? undefined : { text: `${firing} firing`, isBad: true },
  }
}

/** Who is logged in, and the way out. */
function Who() {
  const { name, role, tenants, via } = useSession()
  return (
    <div className="foot">
      <p>
        {name}, {role}
        {tenants !== null && <> of {tenants.join(', ')}</>}
      </p>
      {via === 'session' && (
        <form method="post" action={`${basePath}/admin/logout`}>
          <button type="submit" className="btn quiet sm">
            Log out
          </button>
        </form>
      )}
    </div>
  )
}
