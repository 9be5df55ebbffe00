// Icons as inline SVG: they take the colour of the text beside them, and need nothing that a strict CSP forbids.
import type { ReactNode } from 'react'

const ring = <circle cx="8" cy="8" r="6.6" />
const dash = (dashes: string) => <circle cx="8" cy="8" r="6.6" strokeDasharray={dashes} />
const eye = (
  <>
    <path d="M1 8s2.5-4.5 7-4.5S15 8 15 8s-2.5 4.5-7 4.5S1 8 1 8z" />
  </>
)
const solid = (d: string) => <path d={d} fill="currentColor" stroke="none" fillRule="evenodd" />

const ICONS = {
  ok: (
    <>
      {ring}
      <path d="m5 8.3 2.2 2.1L11 6.2" />
    </>
  ),
  fail: solid(
    'M5 1h6l4 4v6l-4 4H5l-4-4V5zm.9 3.7L4.7 5.9 6.8 8l-2.1 2.1 1.2 1.2L8 9.2l2.1 2.1 1.2-1.2L9.2 8l2.1-2.1-1.2-1.2L8 6.8z',
  ),
  late: solid('M8 1.2 15.4 14.5H.6zM7.2 6v4.4h1.6V6zm0 5.5V13h1.6v-1.5z'),
  run: (
    <>
      {ring}
      {solid('M6.3 4.9v6.2L11.2 8z')}
    </>
  ),
  wait: (
    <>
      {ring}
      <path d="M8 4.2V8l2.6 1.7" />
    </>
  ),
  held: solid('M4 2.5h2.8v11H4zm5.2 0H12v11H9.2z'),
  new: solid('M8 .8 10 6l5.2 2L10 10l-2 5.2L6 10 .8 8 6 6z'),
  ack: (
    <>
      {eye}
      <circle cx="8" cy="8" r="2" />
    </>
  ),
  hide: (
    <>
      {eye}
      <path d="M2.5 14 13.5 2" />
    </>
  ),
  download: <path d="M8 2v8M4.6 7 8 10.4 11.4 7M2.5 13.5h11" />,
  undo: <path d="M3 2.5v4h4M3.3 6.3A5.6 5.6 0 1 1 2.5 9.5" />,
  redo: <path d="M13 2.5v4H9M12.7 6.3a5.6 5.6 0 1 0 .8 3.2" />,
  none: dash('2.6 2.6'),
  busy: dash('24 18'),
  stop: (
    <>
      {ring}
      <path d="m3.4 12.6 9.2-9.2" />
    </>
  ),
  lock: solid('M4 7V5a4 4 0 0 1 8 0v2h1v8H3V7zm1.8 0h4.4V5a2.2 2.2 0 0 0-4.4 0z'),
  search: (
    <>
      <circle cx="6.8" cy="6.8" r="5" />
      <path d="m10.5 10.5 4.3 4.3" />
    </>
  ),
  menu: <path d="M1 3.5h14M1 8h14M1 12.5h14" />,
  theme: solid('M8 .8a7.2 7.2 0 1 0 0 14.4A7.2 7.2 0 0 0 8 .8zm0 1.7v11a5.5 5.5 0 0 1 0-11z'),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8.5" height="9" rx="1.4" />
      <path d="M10.5 3.2V2.5c0-.6-.4-1-1-1h-6.4c-.6 0-1 .4-1 1V9c0 .6.4 1 1 1h.7" />
    </>
  ),
  close: <path d="m3.5 3.5 9 9m0-9-9 9" />,
  down: <path d="m3.5 6 4.5 4.5L12.5 6" />,
  up: <path d="m3.5 10.5 4.5-4.5 4.5 4.5" />,
  left: <path d="M10 3.5 5.5 8l4.5 4.5" />,
  right: <path d="M6 3.5 10.5 8 6 12.5" />,
  dots: solid('M3 6.8h2.4v2.400H3zm3.8 0h2.400v2.400H6.800zm3.8 0H13v2.400h-2.400z'),
  link: <path d="M9.5 2.500h4v4M13.3 2.7 7 9M6.5 3.500h-4v10h10v-4" />,
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof ICONS

export interface IconProps {
  name: IconName
  /** Read aloud. Without it the icon is decoration, and a word must stand beside it. */
  label?: string
  className?: string
}

export function Icon({ name, label, className = '' }: IconProps) {
  const accessible = label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label }
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: it is decoration, or has an aria-label
    <svg
      className={`ic ${className}`}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      {...accessible}
    >
      {ICONS[name]}
    </svg>
  )
}
