export const Logo = () => (
  <svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" aria-hidden="true">
    <circle cx="10" cy="10" r="8.2" strokeWidth="1.6" />
    <path d="M1.8 12c2.2-2.4 4-2.4 6 0s4.2 2.4 10.4 0" strokeWidth="1.6" />
    <path d="M10 1.8v6M4.2 4.2l3.6 3.6M15.8 4.2l-3.6 3.6" strokeWidth="1.2" />
  </svg>
)
