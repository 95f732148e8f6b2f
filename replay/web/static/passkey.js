// Asks the browser for a passkey when a button is pressed, and sends what the device signed with
// the button's form. In a browser without passkeys the buttons stay hidden.

const SIGNED = ["clientDataJSON", "authenticatorData", "signature", "userHandle", "attestationObject"];

function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (each) => each.charCodeAt(0));
}

function text(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function known(list) {
  return (list ?? []).map((each) => ({ ...each, id: bytes(each.id) }));
}

// The server's request with bytes in the place of base64url text, as the browser takes it.
function asked(options) {
  const publicKey = { ...options, challenge: bytes(options.challenge) };
  if (options.user) {
    publicKey.user = { ...options.user, id: bytes(options.user.id) };
    publicKey.excludeCredentials = known(options.excludeCredentials);
  } else {
    publicKey.allowCredentials = known(options.allowCredentials);
  }
  return { publicKey };
}

function answer({ id, rawId, type, response }) {
  const parts = SIGNED.filter((each) => response[each]).map((each) => [each, text(response[each])]);
  return JSON.stringify({ id, rawId: text(rawId), type, response: Object.fromEntries(parts) });
}

async function challenge(form, path) {
  const sent = await fetch(path, {
    method: "POST",
    headers: { "X-CSRF-Token": form.elements.csrf.value },
    signal: AbortSignal.timeout(10000),
  });
  const told = await sent.json();
  if (!sent.ok) throw new Error(told.error);
  return told;
}

async function signed(form, { path, options }) {
  if (options) return navigator.credentials.create(asked(JSON.parse(options)));
  return navigator.credentials.get(asked(await challenge(form, path)));
}

function why(error) {
  if (error.name === "InvalidStateError") return "This device has a passkey of yours already.";
  if (error.name === "NotAllowedError") return "The device gave no passkey, or it took too long.";
  if (error.name === "SecurityError") return "Passkeys do not work under this address of the pages.";
  return `No passkey: ${error.message}`;
}

async function use(button) {
  const { form } = button;
  const spared = [...form.querySelectorAll("[data-or-passkey]")].filter((each) => each.required);
  const says = form.querySelector("[data-passkey-says]");
  for (const each of spared) each.required = false;
  try {
    if (!form.reportValidity()) return;
    button.disabled = true;
    says.textContent = "";
    form.elements[button.dataset.field].value = answer(await signed(form, button.dataset));
    form.requestSubmit();
  } catch (error) {
    says.textContent = why(error);
  } finally {
    button.disabled = false;
    for (const each of spared) each.required = true;
  }
}

if ("credentials" in navigator && "PublicKeyCredential" in window) {
  for (const button of document.querySelectorAll("button[data-field]")) {
    button.hidden = false;
    button.addEventListener("click", (pressed) => {
      pressed.preventDefault();
      use(button);
    });
  }
}
