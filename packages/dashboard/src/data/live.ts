// The one stream of this tab. Screens follow topics; the stream tells that something has changed, and whether it still lives.
import { basePath } from './base.ts'
import { api } from './client.ts'

export type StreamState = 'connecting' | 'live' | 'lost' | 'paused'

export interface LiveStatus {
  readonly state: StreamState
  /** When the server was heard last, in ms since 1970; null: not yet. */
  readonly heardAt: number | null
  /** Why a topic brings nothing, in the server's words. */
  readonly trouble: string | null
}

type Listener = (kind: 'snapshot' | 'change', value: unknown) => void

/** The server sends a beat every 5 seconds: after three it is gone, whatever the socket says. */
const SILENCE_MS = 15_000
const AGAIN_MS = 3_000

const followers = new Map<string, Set<Listener>>()
const watchers = new Set<() => void>()
let status: LiveStatus = { state: 'connecting', heardAt: null, trouble: null }
let source: EventSource | undefined
let followed = ''
let reopening: ReturnType<typeof setTimeout> | undefined
let silence: ReturnType<typeof setTimeout> | undefined
let isPaused = false

/** The listener gets the next news of a topic, such as 'jobs' or 'job:17', and a snapshot first. Call the answer to stop. */
export function follow(topic: string, listener: Listener): () => void {
  const listeners = followers.get(topic) ?? new Set()
  listeners.add(listener)
  followers.set(topic, listeners)
  reopenSoon()
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) followers.delete(topic)
    reopenSoon()
  }
}

/** While it is paused, nothing on the screen changes by itself. */
export function pauseLive(paused: boolean): void {
  isPaused = paused
  if (paused) {
    close()
    change({ state: 'paused' })
  } else {
    change({ state: 'connecting' })
    open()
  }
}

export const liveStatus = (): LiveStatus => status

export function watchLive(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

function change(part: Partial<LiveStatus>): void {
  status = { ...status, ...part }
  for (const watcher of watchers) watcher()
}

/** Screens come and go together: one new connection for all of them. */
function reopenSoon(): void {
  clearTimeout(reopening)
  reopening = setTimeout(() => {
    if (!isPaused && topics() !== followed) open()
  }, 50)
}

const topics = () => [...followers.keys()].sort().join(',')

function open(): void {
  close()
  followed = topics()
  if (followed === '') return
  const opened = new EventSource(`${basePath}/admin/api/stream?topics=${encodeURIComponent(followed)}`)
  source = opened
  opened.addEventListener('beat', heard)
  for (const topic of followers.keys()) opened.addEventListener(topic, (event) => tell(topic, event.data))
  // The server ends a stream whose session is over; the browser would only try again.
  opened.addEventListener('end', () => lost(opened))
  opened.onopen = heard
  opened.onerror = () => lost(opened)
}

function close(): void {
  source?.close()
  source = undefined
  followed = ''
  clearTimeout(silence)
}

function heard(): void {
  clearTimeout(silence)
  silence = setTimeout(() => source && lost(source), SILENCE_MS)
  change({ state: 'live', heardAt: Date.now() })
}

function tell(topic: string, text: string): void {
  heard()
  const { kind, value } = JSON.parse(text) as { kind: 'snapshot' | 'change' | 'error'; value: unknown }
  const trouble = kind === 'error' ? String(value) : null
  if (status.trouble !== trouble) change({ trouble })
  if (kind === 'error') return
  for (const listener of followers.get(topic) ?? []) listener(kind, value)
}

/** A connection that was refused stays closed, so it is made anew: the server may be starting. */
function lost(which: EventSource, isAgain = false): void {
  if (which !== source && !isAgain) return
  close()
  if (status.state !== 'lost') change({ state: 'lost' })
  clearTimeout(reopening)
  reopening = setTimeout(() => {
    if (isPaused) return
    // If the session is over, this leads to the login: the stream itself does not say why it was refused.
    api.access.me().then(open, () => lost(which, true))
  }, AGAIN_MS)
}
