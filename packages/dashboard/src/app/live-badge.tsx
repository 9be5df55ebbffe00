// How old what is shown is, and the pause of live updates.
import { pauseLive } from '../data/live.ts'
import { queryClient } from '../data/queries.ts'
import { useLiveStatus } from '../data/use-live.ts'
import { useNow } from '../ui/text/clock.ts'
import { roughDuration } from '../ui/text/format.ts'

/** Everything is read anew: after a pause, and with the key r. */
export async function readAgain(): Promise<void> {
  if (document.documentElement.dataset.paused !== undefined) togglePause()
  else await queryClient.invalidateQueries()
}

export function togglePause(): void {
  const isPaused = document.documentElement.dataset.paused !== undefined
  if (isPaused) delete document.documentElement.dataset.paused
  else document.documentElement.dataset.paused = ''
  pauseLive(!isPaused)
  if (isPaused) void queryClient.invalidateQueries()
}

const WORDS = { live: 'live', connecting: 'connecting', paused: 'paused', lost: 'no contact' } as const

export function LiveBadge() {
  const { state, heardAt, trouble } = useLiveStatus()
  const now = useNow()
  const age = heardAt === null ? null : Math.max(0, now - heardAt)
  const isOld = state !== 'live' && state !== 'connecting'
  const ageText = age === null || (state === 'live' && age < 6_000) ? '' : isOld ? `, ${roughDuration(age)} old` : ''
  return (
    <button
      type="button"
      className={`live ${trouble !== null || state === 'lost' ? 'lost' : state === 'live' ? '' : 'paused'}`}
      aria-pressed={state === 'paused'}
      title={trouble ?? (state === 'paused' ? 'Show live data again' : 'Pause live updates')}
      onClick={togglePause}
    >
      <i />
      {trouble === null ? WORDS[state] : 'the server has trouble'}
      {ageText}
      <span className="vh">: {state === 'paused' ? 'press to go on' : 'press to pause'}</span>
    </button>
  )
}
