import type { IconName } from './icon.tsx'

/** How serious something is; every state that the dashboard shows has one. */
export type Tone = 'ok' | 'info' | 'late' | 'fail' | 'off'

const ICON: Record<Tone, IconName> = { ok: 'ok', info: 'run', late: 'late', fail: 'fail', off: 'none' }
const WORD: Record<Tone, string> = { ok: 'Fine', info: 'Under way', late: 'Late', fail: 'Failing', off: 'Idle' }

export const iconOf = (tone: Tone): IconName => ICON[tone]
export const wordOf = (tone: Tone): string => WORD[tone]
