// Light or dark: as the system has it, unless the reader says otherwise.
import { h } from './dom.js';
import { change, on_view, view } from './view.js';

const system = window.matchMedia('(prefers-color-scheme: dark)');
const names = { auto: 'as the system', light: 'light', dark: 'dark' };

function remembered() {
  try {
    const theme = localStorage.getItem('rarefy-theme');
    return theme in names ? theme : 'auto';
  } catch {
    return 'auto'; // files have no storage in some browsers
  }
}

let printing = false;

export function is_dark() {
  if (printing) return false;
  return view.theme === 'auto' ? system.matches : view.theme === 'dark';
}

function apply() {
  document.documentElement.dataset.theme = is_dark() ? 'dark' : 'light';
}

/// A colour of the style sheet.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Before anybody else hears of a change, and draws with the colours of the style sheet.
view.theme = remembered();
apply();
on_view((changed) => {
  if (changed.includes('theme')) apply();
});

export function theme_button() {
  const button = h('button', { type: 'button', class: 'theme', id: 'theme' });
  const label = () => {
    button.textContent = is_dark() ? '☾' : '☀';
    button.title = `Colours: ${names[view.theme]}`;
    button.setAttribute('aria-label', `Colours: ${names[view.theme]}. Change`);
  };
  button.addEventListener('click', () => {
    // The first press must change what is seen, whatever the system has.
    const next = view.theme === 'auto' ? (is_dark() ? 'light' : 'dark')
      : (view.theme === 'dark') === system.matches ? 'auto' : system.matches ? 'dark' : 'light';
    try {
      localStorage.setItem('rarefy-theme', next);
    } catch {
      // it then holds for this visit
    }
    change({ theme: next });
  });
  on_view((changed) => {
    if (changed.includes('theme')) label();
  });
  system.addEventListener('change', () => change({ theme: view.theme }));
  // Paper is white.
  const print = (now) => {
    printing = now;
    change({ theme: view.theme });
  };
  window.addEventListener('beforeprint', () => print(true));
  window.addEventListener('afterprint', () => print(false));
  label();
  return button;
}
