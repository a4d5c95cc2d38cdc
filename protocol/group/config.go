package group

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/signed"
	"github.com/wandertoken/wander/protocol/window"
)

// configLimits bound a configuration: MaxResources of about a hundred and fifty items each,
// with every parameter that there is, windows, policy.MaxWeights, a gate, and extensions.
var configLimits = canonical.Limits{MaxBytes: envelope.MaxConfiguration, MaxDepth: 6, MaxItems: (70 + 6*window.Max + 2*policy.MaxWeights) * MaxResources}

// configForm is the payload of a configuration. Times are in milliseconds.
type configForm struct {
	_               struct{} `cbor:",toarray"`
	Version         uint64
	Name            string
	Issued          uint64
	Resources       []resourceForm
	Constants       constantsForm
	Authorities     [][envelope.KeyIDSize]byte
	RevocationFloor uint64
	Extensions      canonical.Extensions
}

// constantsForm is what holds for the group as a whole: the Constants.
type constantsForm []uint64

// resourceForm is one resource. An empty preset is the policy's default. The gate, and only it, may be missing,
// and is when there is none: so a resource without a gate is as it was before there were gates.
type resourceForm struct {
	plainForm
	gate *gateForm // nil: none
}

// plainForm is a resource without a gate.
type plainForm struct {
	_          struct{} `cbor:",toarray"`
	Name       string
	Policy     string
	Preset     string
	Slots      uint64
	Parameters parametersForm
	MaxHold    uint64
	OnIsolated uint64
	Windows    []windowForm
	Weights    weightsForm
	Extensions canonical.Extensions
}

// weightsForm are the weights of the classes that a resource names.
type weightsForm map[string]uint64

func formOfWeights(w policy.Weights) weightsForm {
	f := make(weightsForm)
	for _, c := range w.List() {
		f[c.Class] = uint64(c.Weight)
	}
	return f
}

// weights are what the form says. Errors: those of policy.MakeWeights.
func (f weightsForm) weights() (policy.Weights, error) {
	of := make(map[string]int, len(f))
	for class, weight := range f {
		of[class] = int(min(weight, math.MaxInt32))
	}
	return policy.MakeWeights(of)
}

// gatedForm is a resource with a gate: plainForm, and one item more.
type gatedForm struct {
	_ struct{} `cbor:",toarray"`
	plainForm
	Gate gateForm
}

// gatedLength is the first byte of an array of as many items as gatedForm has.
const gatedLength = 0x80 + 11

// MarshalCBOR encodes the shorter form if there is no gate.
func (f resourceForm) MarshalCBOR() ([]byte, error) {
	if f.gate == nil {
		return canonical.Marshal(&f.plainForm)
	}
	return canonical.Marshal(&gatedForm{plainForm: f.plainForm, Gate: *f.gate})
}

// UnmarshalCBOR decodes either form.
func (f *resourceForm) UnmarshalCBOR(data []byte) error {
	*f = resourceForm{}
	if len(data) == 0 || data[0] != gatedLength {
		return canonical.Unmarshal(data, &f.plainForm, configLimits)
	}
	var g gatedForm
	err := canonical.Unmarshal(data, &g, configLimits)
	f.plainForm, f.gate = g.plainForm, &g.Gate
	return err
}

// Sign signs the settings as the configuration of group g. Issued loses what is
// below a millisecond. Errors: those of Validate, ErrAuthorities also when the
// signer's key is not listed, and envelope.ErrTooLarge when the configuration
// is too large, which takes long policy names, many weights, or extensions.
func (s Settings) Sign(g ident.Group, ca *signature.PrivateKey) (Config, error) {
	s.Issued = s.Issued.Truncate(time.Millisecond).UTC()
	signer := certificate.AuthorityID(ca.Public())
	if len(s.Authorities) == 0 {
		s.Authorities = append(s.Authorities, signer)
	}
	if err := cmp.Or(s.Validate(), s.checkSigner(signer)); err != nil {
		return Config{}, err
	}
	s.Resources, s.Authorities = slices.Clone(s.Resources), slices.Clone(s.Authorities)
	payload, err := canonical.Marshal(s.form())
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	form, err := envelope.Sign(domain(g, envelope.Configuration), signer, payload, ca)
	if err != nil {
		return Config{}, err
	}
	return Config{signed.Of(s, form)}, nil
}

// checkSigner returns ErrAuthorities unless the signer's key is listed: a
// configuration cannot retire the key that vouches for it.
func (s Settings) checkSigner(id [envelope.KeyIDSize]byte) error {
	if !slices.Contains(s.Authorities, id) {
		return fmt.Errorf("%w: the signer's, %x, is not among the %d", ErrAuthorities, id, len(s.Authorities))
	}
	return nil
}

func (s Settings) form() *configForm {
	f := &configForm{
		Version: s.Version, Name: s.Name, Issued: uint64(s.Issued.UnixMilli()),
		Authorities: s.Authorities, RevocationFloor: s.RevocationFloor, Extensions: s.Extensions,
	}
	for _, c := range Constants {
		f.Constants = append(f.Constants, c.Wire(&s))
	}
	for _, r := range s.Resources {
		f.Resources = append(f.Resources, r.form())
	}
	return f
}

func (r Resource) form() resourceForm {
	f := resourceForm{plainForm: plainForm{
		Name: r.Name, Policy: r.Policy, Preset: r.Preset, Slots: slots.Wire(&r),
		Parameters: formOf(&r.Params), MaxHold: maxHold.Wire(&r), OnIsolated: uint64(r.OnIsolated), Windows: formsOf(r.Windows),
		Weights: formOfWeights(r.Weights), Extensions: r.Extensions,
	}}
	if !r.Gate.IsZero() {
		gate := r.Gate.form()
		f.gate = &gate
	}
	return f
}

// settings are what the form says, unchecked. Errors: ErrMalformed, and those of
// parametersForm.params and gateForm.gate.
func (f *configForm) settings() (Settings, error) {
	s := Settings{
		Version: f.Version, Name: f.Name, Issued: clock.FromMillis(f.Issued),
		Authorities: f.Authorities, RevocationFloor: f.RevocationFloor, Extensions: f.Extensions,
	}
	if len(f.Constants) != len(Constants) {
		return Settings{}, fmt.Errorf("%w: %d constants", ErrMalformed, len(f.Constants))
	}
	for i, c := range Constants {
		c.SetWire(&s, f.Constants[i])
	}
	for _, r := range f.Resources {
		resource, err := r.resource()
		if err != nil {
			return Settings{}, fmt.Errorf("resource %q: %w", r.Name, err)
		}
		s.Resources = append(s.Resources, resource)
	}
	return s, nil
}

func (f resourceForm) resource() (Resource, error) {
	params, err := f.Parameters.params()
	if err != nil {
		return Resource{}, err
	}
	params.Preset = f.Preset
	params.OnIsolated = policy.OnIsolated(min(f.OnIsolated, math.MaxUint8))
	if params.Weights, err = f.Weights.weights(); err != nil {
		return Resource{}, err
	}
	r := Resource{Name: f.Name, Policy: f.Policy, Params: params, Extensions: f.Extensions}
	if r.Windows, err = windowsOf(f.Windows); err != nil {
		return Resource{}, err
	}
	slots.SetWire(&r, f.Slots)
	maxHold.SetWire(&r, f.MaxHold)
	if f.gate != nil {
		if r.Gate, err = f.gate.gate(); err != nil {
			return Resource{}, err
		}
	}
	return r, nil
}

// Config is a verified group configuration. It is immutable and safe for
// concurrent use; the zero value is none.
type Config struct{ signed.Object[Settings] }

// ParseConfig reads and verifies a configuration of group g. A configuration of
// another group fails like one that was altered. Group.WithConfig checks the CA
// keys that it lists. Errors: the first that applies of ErrMalformed,
// ErrParameter, those of Settings.Validate, certificate.ErrUnknownCA and
// certificate.ErrSignature.
func ParseConfig(g ident.Group, raw []byte, cas certificate.Authorities) (Config, error) {
	u, err := envelope.Parse(domain(g, envelope.Configuration), raw)
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var f configForm
	if err := canonical.Unmarshal(u.Payload(), &f, configLimits); err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	s, err := f.settings()
	if err != nil {
		return Config{}, err
	}
	if err := cmp.Or(s.Validate(), s.checkSigner(u.KeyID())); err != nil {
		return Config{}, err
	}
	form, err := certificate.VerifyBy(cas, u)
	if err != nil {
		return Config{}, err
	}
	return Config{signed.Of(s, form)}, nil
}

// Settings returns what the CA signed. The lists of resources and authorities
// are copies.
func (c Config) Settings() Settings {
	s := c.Body()
	s.Resources, s.Authorities = slices.Clone(s.Resources), slices.Clone(s.Authorities)
	return s
}

// Resource returns the resource with this name.
func (c Config) Resource(name string) (r Resource, ok bool) {
	resources := c.Body().Resources
	i, ok := slices.BinarySearchFunc(resources, name, func(r Resource, name string) int {
		return cmp.Compare(r.Name, name)
	})
	if !ok {
		return Resource{}, false
	}
	return resources[i], true
}

// Version returns the configuration's version, and 0 for the zero Config.
func (c Config) Version() uint64 { return c.Body().Version }

// Signer returns the id of the CA key that signed this configuration, see
// certificate.AuthorityID.
func (c Config) Signer() [envelope.KeyIDSize]byte { return c.KeyID() }
