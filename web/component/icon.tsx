// Icons next to labels; an icon never replaces a label.

const paths = {
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 2.5V8l2.5 2',
  queue: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  flask: 'M6 2h4M6.75 2v4L3 13.2c-.2.4.1.8.5.8h9c.4 0 .7-.4.5-.8L9.250 6V2M5 10h6',
  check: 'M3 8.5 6.5 12 13 4.5',
  merged: 'M8 1.8a6.200 6.200 0 1 0 0 12.400A6.200 6.200 0 0 0 8 1.800ZM5 8.200l2.200 2.200L11 6',
  cross: 'M4 4l8 8M12 4l-8 8',
  dash: 'M8 1.800a6.200 6.200 0 1 0 0 12.400A6.200 6.200 0 0 0 8 1.800ZM5 8h6',
  warning: 'M8 2 1.500 13.500h13L8 2Zm0 4.500v3.500M8 11.700v.3',
  play: 'M5 3v10l8-5-8-5Z',
  pause: 'M5.500 3v10M10.500 3v10',
  drain: 'M2.500 3h11L9.500 8.500V13l-3-1.500v-3L2.500 3Z',
  switch: 'M3 5.500h9.500L10 3M13 10.500H3.500L6 13',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.500 9.800A6 6 0 0 1 6.200 2.500a6 6 0 1 0 7.300 7.300Z',
  down: 'M4 6l4 4 4-4',
  dots: 'M3 8h.01M8 8h.01M13 8h.01',
  link: 'M9.500 2.500h4v4M13.500 2.500 7.500 8.500M11.500 9v4.500h-9v-9H7',
  live: 'M8 6.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3ZM4.500 4.500a5 5 0 0 0 0 7M11.500 4.500a5 5 0 0 1 0 7',
  search: 'M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9ZM10.300 10.300 14 14',
  key: 'M5 5a3 3 0 1 0 0 6A3 3 0 0 0 5 5ZM8 8h6.500v2.500M11.500 8v2',
  shield: 'M8 1.800 13 4v4c0 3-2 5.200-5 6.200C5 13.200 3 11 3 8V4l5-2.200Z',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.6}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
    className="icon"
  >
    <path d={paths[name]} />
  </svg>
);
